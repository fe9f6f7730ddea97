//! How serde walks through the fields, elements and variants of a tree.
//! Must not know scenes, nor what is wrong with a value.

use super::tree::{Body, Kind};
use super::values::{Refusal, Value};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use std::vec::IntoIter;

/// The fields of a struct.
pub(super) struct Fields<'t> {
    pub entries: IntoIter<(&'static str, Value<'t>)>,
    pub value: Option<Value<'t>>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refusal> {
        let Some((name, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        let name: StrDeserializer<'_, Refusal> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(Refusal::Other("a value was asked for before its name".into())),
        }
    }
}

/// The elements of a list or a tuple.
pub(super) struct Elements<'t>(pub IntoIter<Value<'t>>);

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Refusal;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Refusal> {
        self.0.next().map(|value| seed.deserialize(value)).transpose()
    }
}

/// A variant of an enum and its content: the node that bears the variant's name, to be read from the inside.
pub(super) struct Variant<'t> {
    pub name: &'static str,
    pub type_name: String,
    pub content: Value<'t>,
}

impl<'t> Variant<'t> {
    fn body(&self) -> Option<&'t Body> {
        match self.content.node.map(|node| &node.kind) {
            Some(Kind::Named(_, body)) => Some(body),
            _ => None,
        }
    }
}

impl<'de, 't> EnumAccess<'de> for Variant<'t> {
    type Error = Refusal;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Refusal> {
        let name: StrDeserializer<'_, Refusal> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Refusal;

    fn unit_variant(self) -> Result<(), Refusal> {
        match self.body() {
            Some(Body::Fields(_)) => {
                self.content.complain(format!("`{0}` has no fields: write `{0}` alone", self.name));
            }
            Some(Body::Tuple(_)) => {
                self.content.complain(format!("`{0}` takes no value: write `{0}` alone", self.name));
            }
            Some(Body::Unit) | None => {}
        }
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Refusal> {
        match self.body() {
            Some(Body::Tuple(values)) if values.len() == 1 => {
                let content = &self.content;
                seed.deserialize(Value::new(values.first(), content.path.clone(), content.notes))
            }
            Some(Body::Unit) => {
                self.content.complain(format!("`{0}` needs a value: write `{0}(...)`", self.name));
                seed.deserialize(self.content.stand_in())
            }
            Some(Body::Tuple(values)) if values.is_empty() => {
                self.content.complain(format!("`{0}` needs a value: write `{0}(...)`", self.name));
                seed.deserialize(self.content.stand_in())
            }
            // `Gas(a: 1, b: 2)` for `Gas((a: 1, b: 2))`: RON's unwrap_variant_newtypes.
            _ => seed.deserialize(self.content),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Refusal> {
        Err(Refusal::Other("scenes have no variants of this kind: this is a fault of the program".into()))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.content.read_fields(&self.type_name, fields, visitor)
    }
}
