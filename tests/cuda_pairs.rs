//! The pairs that `kernels/collide.cuh` makes for Half-Split-Shuffle, and the shim that runs CUDA on the host.
//! Must not need a GPU, and knows no physics.

// Helpers of tests may fall over as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/host_cuda.rs"]
mod host_cuda;

use host_cuda::HostProgram;
use std::sync::OnceLock;

fn program() -> &'static HostProgram {
    static PROGRAM: OnceLock<HostProgram> = OnceLock::new();
    PROGRAM.get_or_init(|| HostProgram::compile("formulas_main.cpp", &[]))
}

/// Permutations of 0..n for as many keys, one after the other.
fn permutations(n: u32, keys: u32, seed: u32) -> Vec<u16> {
    let input: Vec<u8> = [n, keys, seed].into_iter().flat_map(u32::to_ne_bytes).collect();
    let bytes = program().run(&["permute"], &input);
    assert_eq!(bytes.len(), 2 * (n * keys) as usize);
    bytes.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect()
}

/// Chi-square less its degrees of freedom, in standard deviations; counts of equally likely outcomes.
fn excess(counts: &[u32]) -> f64 {
    let expected = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / counts.len() as f64;
    let chi_square: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}

/// The place of an unordered pair among the n (n - 1) / 2.
fn place([a, b]: [u16; 2]) -> usize {
    let (low, high) = (usize::from(a.min(b)), usize::from(a.max(b)));
    high * (high - 1) / 2 + low
}

/// Pairs of a permutation as the step takes them: k with k + n / 2.
fn pairs(order: &[u16]) -> impl Iterator<Item = [u16; 2]> {
    let half = order.len() / 2;
    (0..half).map(move |k| [order[k], order[k + half]])
}

#[test]
fn every_key_gives_a_permutation() {
    for n in (2..=600).chain([1000, 1023, 1024, 1025, 4099, 30_000, 65_535]) {
        for order in permutations(n, if n > 600 { 3 } else { 20 }, 1).chunks_exact(n as usize) {
            let mut seen = vec![false; n as usize];
            for &number in order {
                assert!(
                    !std::mem::replace(&mut seen[usize::from(number)], true),
                    "n = {n}: {number} comes twice"
                );
            }
        }
    }
}

/// Every pair equally often, and so every particle left out of an odd number. At most one of the pairs of a pass is
/// counted: they exclude each other, and their counts would fall nearer to the mean than those of chi-square.
#[test]
fn every_pair_meets_equally_often() {
    for (n, keys) in [
        (2, 1000),
        (3, 400_000),
        (4, 400_000),
        (5, 400_000),
        (6, 400_000),
        (7, 400_000),
        (8, 400_000),
        (9, 400_000),
        (16, 400_000),
        (63, 200_000),
        (64, 200_000),
        (100, 200_000),
        (101, 200_000),
    ] {
        let orders = permutations(n, keys, 2);
        let half = (n / 2) as usize;
        let mut counts = vec![0; (n * (n - 1) / 2) as usize];
        let mut left_out = vec![0; n as usize];
        for (key, order) in orders.chunks_exact(n as usize).enumerate() {
            counts[place(pairs(order).nth(key % half).unwrap())] += 1;
            left_out[usize::from(order[n as usize - 1])] += 1;
        }
        if n > 2 {
            let z = excess(&counts);
            println!("n = {n}: pairs {z:+.2} sigma");
            assert!(z.abs() < 4.5, "n = {n}: chi-square is {z} sigma off");
        }
        if n % 2 == 1 {
            let z = excess(&left_out);
            assert!(z.abs() < 4.5, "n = {n}, the one left out: chi-square is {z} sigma off");
        }
    }
}

/// With all pairs of a pass, so that far more is counted: no pair, and no distance of two numbers (neighbours may come
/// from the same place), is favoured. Errors of counts are binomial.
#[test]
fn no_distance_is_favoured() {
    for (n, keys) in [(100_u32, 100_000_u32), (1000, 10_000)] {
        let orders = permutations(n, keys, 3);
        let mut counts = vec![0_u32; (n * (n - 1) / 2) as usize];
        let mut distances = vec![0_u32; n as usize];
        for pair in orders.chunks_exact(n as usize).flat_map(pairs) {
            counts[place(pair)] += 1;
            distances[usize::from(pair[0].abs_diff(pair[1]))] += 1;
        }
        let z = excess(&counts);
        println!("n = {n}: pairs {z:+.2} sigma");
        assert!(z < 4.5, "n = {n}: chi-square is {z} sigma too much");
        let each = f64::from(keys * (n / 2)) / f64::from(n * (n - 1) / 2);
        for (distance, &count) in distances.iter().enumerate().skip(1) {
            let expected = each * (f64::from(n) - distance as f64);
            let sigma = expected.sqrt();
            // In one pass in thousands the shuffle leaves many pairs at one distance: counts scatter a little more.
            assert!(
                (f64::from(count) - expected).abs() < 6.0 * sigma + 5.0,
                "n = {n}: {count} pairs at distance {distance}, not {expected}"
            );
        }
    }
}

/// Two pairs of one pass. That they exclude each other is exact; beyond that they are as good as independent: how
/// often two given pairs come together is within 15 % (rms) of a perfect shuffle. Two collisions of one pass are then
/// correlated by so little of P^2, P about 0.05; the rates themselves are exact.
#[test]
fn two_pairs_of_a_pass_are_nearly_independent() {
    let keys = 400_000;
    for n in [6_u16, 7, 8, 9, 12] {
        let orders = permutations(u32::from(n), keys, 4);
        let size = usize::from(n * (n - 1) / 2);
        // Two neighbouring places of the tournament, and two far apart.
        for places in [[0, 1], [usize::from(n / 2) - 2, usize::from(n / 2) - 1], [0, usize::from(n / 2) - 1]]
        {
            let mut counts = vec![0_u32; size * size];
            for order in orders.chunks_exact(usize::from(n)) {
                let mut two = places.map(|k| place(pairs(order).nth(k).unwrap()));
                two.sort_unstable();
                counts[two[0] * size + two[1]] += 1;
            }
            let outcomes = f64::from(n) * f64::from(n - 1) * f64::from(n - 2) * f64::from(n - 3) / 8.0;
            let expected = f64::from(keys) / outcomes;
            let sum: f64 = counts.iter().map(|&c| f64::from(c).powi(2)).sum();
            // Variance of the counts beyond that of chance, relative to their square.
            let rms = ((sum / outcomes - expected * expected - expected).max(0.0)).sqrt() / expected;
            println!("n = {n}, pairs {places:?}: {:.1} % beyond chance", 100.0 * rms);
            assert!(rms < 0.15, "n = {n}, pairs {places:?}: the joint counts scatter by {rms} beyond chance");
        }
    }
}

/// Warp and block intrinsics of the shim against loops.
#[test]
fn the_shim_does_what_a_gpu_does() {
    let (blocks, threads) = (6, 96);
    let input: Vec<u32> = (0..blocks * threads).map(|i| (i * 7919 + 13) % 1009).collect();
    let bytes: Vec<u8> = input.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let output = program().run(&["shim"], &bytes);
    let word = |at: usize| u32::from_ne_bytes(output[4 * at..4 * at + 4].try_into().unwrap());
    let scans: Vec<u32> = input
        .chunks(32)
        .flat_map(|warp| {
            warp.iter().scan(0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
        })
        .collect();
    for (block, values) in input.chunks(threads as usize).enumerate() {
        for (thread, value) in values.iter().enumerate() {
            let global = block * threads as usize + thread;
            let (lane, warp) = (thread % 32, &values[thread / 32 * 32..][..32]);
            let mask = |hit: &dyn Fn(u32) -> bool| -> u32 {
                warp.iter().enumerate().map(|(bit, &v)| u32::from(hit(v)) << bit).sum()
            };
            let mut wanted = vec![
                scans[global],
                scans[block * threads as usize + threads as usize - 1 - thread],
                mask(&|v| v % 2 == 1),
                mask(&|v| v % 3 == value % 3),
                if lane < 16 { warp[..16].iter().sum() } else { *warp[16..].iter().max().unwrap() },
                values.iter().filter(|v| **v > 500).count() as u32,
                values.iter().sum(),
            ];
            // Lane 31 left before; lane 30 asks a lane that is not there.
            if lane < 30 {
                wanted.push(warp[lane + 1]);
            }
            let got: Vec<u32> = (0..wanted.len()).map(|k| word(8 * global + k)).collect();
            assert_eq!(got, wanted, "block {block}, thread {thread}");
        }
    }
    let stayed = || input.iter().enumerate().filter(|(i, _)| i % 32 != 31).map(|(_, value)| *value);
    let end = 8 * input.len();
    assert_eq!(word(end), stayed().max().unwrap());
    let sum = f64::from_ne_bytes(output[4 * end + 4..].try_into().unwrap());
    assert_eq!(sum, stayed().map(f64::from).sum::<f64>());
}

#[test]
fn the_shim_stops_where_a_gpu_would_hang() {
    let message = program().try_run(&["deadlock"], &[]).unwrap_err();
    assert!(message.contains("never come"), "{message}");
}
