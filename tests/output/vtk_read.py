"""Reads the files of a run with VTK, ParaView's own library, and prints what it found as JSON.

Called by tests/output/main.rs, which knows what should be found.
"""

import json
import math
import sys
from pathlib import Path

import vtk

folder = Path(sys.argv[1])


def read(reader, name):
    """The data set in a file, and what VTK complained of."""
    messages = []
    note = lambda _, event: messages.append(event)
    for source in (reader, vtk.vtkOutputWindow.GetInstance()):
        for event in ("ErrorEvent", "WarningEvent"):
            source.AddObserver(event, note)
    reader.SetFileName(str(folder / name))
    reader.Update()
    if reader.GetErrorCode():
        messages.append(vtk.vtkErrorCode.GetStringFromErrorCode(reader.GetErrorCode()))
    return reader.GetOutput(), messages


def arrays(attributes):
    found = {}
    for n in range(attributes.GetNumberOfArrays()):
        array = attributes.GetArray(n)
        components = array.GetNumberOfComponents()
        values = [array.GetComponent(t, c) for t in range(array.GetNumberOfTuples()) for c in range(components)]
        sound = [v for v in values if not math.isnan(v)]
        found[array.GetName()] = {
            "components": components,
            "sum": math.fsum(sound),
            "missing": len(values) - len(sound),
            "unit": array.GetInformation().Get(vtk.vtkDataArray.UNITS_LABEL()),
        }
    return found


def field(data):
    whole = data.GetFieldData()
    return {name: whole.GetArray(name).GetTuple1(0) for name in ("TimeValue", "step")}


report = {}

image, messages = read(vtk.vtkXMLImageDataReader(), "fields.vti")
cells = image.GetCellData()
report["fields.vti"] = {
    "messages": messages,
    "cells": [n - 1 for n in image.GetDimensions()],
    "origin": image.GetOrigin(),
    "spacing": image.GetSpacing(),
    "arrays": arrays(cells),
    "field": field(image),
}
place = [image.GetOrigin()[a] + (n + 0.5) * image.GetSpacing()[a] for a, n in enumerate((7, 11, 13))]
cell = image.FindCell(place, None, 0, 0.0, vtk.reference(0), [0.0] * 3, [0.0] * 8)
names = [cells.GetArrayName(n) for n in range(cells.GetNumberOfArrays())]
report["probe"] = {
    "place": place,
    # A smaller grid does not reach there.
    "values": {name: cells.GetArray(name).GetComponent(cell, 0) for name in names} if cell >= 0 else None,
}

surface, messages = read(vtk.vtkXMLPolyDataReader(), "surface.vtp")
mass = vtk.vtkMassProperties()
mass.SetInputData(surface)
mass.Update()
strings = surface.GetFieldData().GetAbstractArray("obstacle_names")
report["surface.vtp"] = {
    "messages": messages,
    "polygons": surface.GetNumberOfPolys(),
    "volume": mass.GetVolume(),
    "names": [strings.GetValue(n) for n in range(strings.GetNumberOfValues())],
    "arrays": arrays(surface.GetCellData()),
}

particles, messages = read(vtk.vtkXMLPolyDataReader(), "particles.vtp")
report["particles.vtp"] = {
    "messages": messages,
    "points": particles.GetNumberOfPoints(),
    "vertices": particles.GetNumberOfVerts(),
    "arrays": arrays(particles.GetPointData()),
}

print(json.dumps(report))
