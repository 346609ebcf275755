//! The kernels' sources, each with what it is told of the device and the model before it.

use super::{ATTEND_THREADS, Division, Heads, States, Then};
use crate::Precision;
use crate::arithmetic::{Arithmetic, Matrices};
use crate::weights::Storage;
use closeread_embed::Pooling;
use closeread_kernels::{ERF, ERF_END};

/// Bytes of a workgroup's memory that every device has.
const SHARED: usize = 16_384;
/// Threads of a row of a normalisation on devices whose groups of threads may have any size.
const ROW_THREADS: usize = 64;
/// Rows of a workgroup of a normalisation where a group of threads takes a row.
const ROWS_TOGETHER: usize = 4;

/// Inputs that a product by small matrices takes at a time.
const STEP: usize = 32;

/// Rows that a workgroup normalises.
pub(super) fn normalised_rows(arithmetic: Arithmetic) -> usize {
    arithmetic.lanes.map_or(1, |_| ROWS_TOGETHER)
}

/// A linear layer of weights that are stored so.
pub(super) fn product(then: Then, storage: Storage, arithmetic: Arithmetic) -> String {
    let names = "const STORE = 0u;\nconst ADD = 1u;\nconst GELU = 2u;\nconst GELU_TANH = 3u;\nconst RELU = 4u;\n";
    let epilogue = match then {
        Then::Store => "STORE",
        Then::Add => "ADD",
        Then::Gelu => "GELU",
        Then::GeluTanh => "GELU_TANH",
        Then::Relu => "RELU",
    };
    let input = arithmetic.number();
    // States, to which is added, are f32 always.
    let output = if then == Then::Add { "f32" } else { input };
    let head = format!("alias Input = {input};\nalias Output = {output};\n{names}const EPILOGUE = {epilogue};\n");
    let finish = erf_polynomial() + include_str!("finish.wgsl");
    if let Some(matrices) = arithmetic.matrices {
        return format!(
            "enable f16;\nenable wgpu_cooperative_matrix;\n{head}{}{finish}",
            product_of_matrices(matrices, storage, arithmetic.precision)
        );
    }
    let unpacked = match storage {
        Storage::F32 => {
            "alias Packed = vec4<u32>;\nfn unpacked(four: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(four); }\n"
        }
        Storage::F16 | Storage::Halves => {
            "alias Packed = vec2<u32>;\nfn unpacked(four: Packed) -> vec4<f32> {\n    return vec4(unpack2x16float(four.x), \
             unpack2x16float(four.y));\n}\n"
        }
    };
    format!(
        "{}{head}{unpacked}{}{finish}",
        arithmetic.enabled(),
        repeated(include_str!("product.wgsl"), &[("FOUR", 4)])
    )
}

fn product_of_matrices(matrices: Matrices, storage: Storage, precision: Precision) -> String {
    let Matrices { side, lanes } = matrices;
    let division = matrices.division(precision, storage);
    let Division { down, across, high, wide } = division;
    let [input_parts, weight_parts] = parts(precision, storage);
    let [rows, columns] = division.tile(side);
    let loads = |n: usize| n * STEP / 4 / (down * across * lanes);
    let counts = [
        ("HIGH", high),
        ("WIDE", wide),
        ("INPUT_PARTS", input_parts),
        ("WEIGHT_PARTS", weight_parts),
        ("WEIGHT_RESTS", weight_parts - 1),
        ("LEFT_LOADS", loads(rows)),
        ("RIGHT_LOADS", loads(columns)),
    ];
    let source = include_str!("product_matrix.wgsl").replace("MATRIX", &format!("coop_mat{side}x{side}"));
    format!(
        "const SIDE = {side}u;\nconst LANES = {lanes}u;\nconst DOWN = {down}u;\nconst ACROSS = {across}u;\n\
         const HIGH = {high}u;\nconst WIDE = {wide}u;\nconst STEP = {STEP}u;\n\
         const INPUT_PARTS = {input_parts}u;\nconst WEIGHT_PARTS = {weight_parts}u;\n{}",
        repeated(&source, &counts)
    )
}

/// Halves that stand for an input, and for a weight.
fn parts(precision: Precision, storage: Storage) -> [usize; 2] {
    [if precision == Precision::F32 { 2 } else { 1 }, if storage == Storage::Halves { 2 } else { 1 }]
}

/// Bytes of a workgroup's memory that a product by small matrices takes.
pub(super) fn shared_bytes(matrices: Matrices, precision: Precision, storage: Storage) -> usize {
    let division = matrices.division(precision, storage);
    let [rows, columns] = division.tile(matrices.side);
    let [input_parts, weight_parts] = parts(precision, storage);
    let halves = input_parts * rows * (STEP + 8) + weight_parts * STEP * (columns + 8);
    let strips = division.down * division.across * matrices.side * (matrices.side + 4);
    2 * halves + 4 * strips
}

/// Repeats what stands between `//: each NAME of COUNT` and its `//: end`, with 0, 1, 2, ... for `$NAME`.
fn repeated(source: &str, counts: &[(&str, usize)]) -> String {
    let Some((before, rest)) = source.split_once("//: each ") else { return source.to_owned() };
    let (head, rest) = rest.split_once('\n').expect("a line ends");
    let (name, count) = head.split_once(" of ").expect("each NAME of COUNT");
    let n = counts.iter().find(|(known, _)| *known == count).expect("a count that is known").1;
    let mut depth = 1;
    let end = rest.match_indices("//: ").find(|(at, _)| {
        let opens = rest[at + 4..].starts_with("each ");
        depth = if opens { depth + 1 } else { depth - 1 };
        depth == 0
    });
    let (body, after) = rest.split_at(end.expect("each ends").0);
    let copies: String = (0..n).map(|at| body.replace(&format!("${name}"), &at.to_string())).collect();
    format!("{before}{}{}", repeated(&copies, counts), repeated(after.trim_start_matches("//: end"), counts))
}

/// The polynomial that the encoder's kernels compute erf by, by Horner's rule.
fn erf_polynomial() -> String {
    let (last, others) = ERF.split_last().expect("it has coefficients");
    let steps: String = others.iter().rev().map(|number| format!("    p = p * t + ({number:?});\n")).collect();
    format!(
        "const ERF_END = f32({ERF_END:?});\nfn erf_polynomial(t: vec4<f32>) -> vec4<f32> {{\n    var p = vec4<f32>({last:?});\n\
         {steps}    return p;\n}}\n"
    )
}

/// Attention of heads of this many numbers.
pub(super) fn attend(heads: Heads, arithmetic: Arithmetic) -> String {
    let (size, number) = (heads.size, arithmetic.number());
    let parts = size.div_ceil(4);
    let keys = (SHARED / (2 * 16 * parts)).min(32);
    let fours = if size.is_multiple_of(4) {
        format!(
            "alias Four = vec4<{number}>;\n\
             fn four_at(at: u32) -> vec4<f32> {{ return vec4<f32>(projections[at / 4u]); }}\n\
             fn put_at(at: u32, left: u32, found: vec4<f32>) {{ context[at / 4u] = Four(found); }}\n"
        )
    } else {
        format!(
            "alias Four = {number};\n\
             fn four_at(at: u32) -> vec4<f32> {{\n    \
             return vec4(f32(projections[at]), f32(projections[at + 1u]), f32(projections[at + 2u]), \
             f32(projections[at + 3u]));\n}}\n\
             fn put_at(at: u32, left: u32, found: vec4<f32>) {{\n    \
             for (var n = 0u; n < min(left, 4u); n++) {{ context[at + n] = Four(found[n]); }}\n}}\n"
        )
    };
    format!(
        "{}const SIZE = {size}u;\nconst PARTS = {parts}u;\nconst KEYS = {keys}u;\nconst THREADS = {ATTEND_THREADS}u;\n{fours}{}",
        arithmetic.enabled(),
        repeated(include_str!("attend.wgsl"), &[("PARTS", parts), ("QUERIES", heads.queries_a_thread())])
    )
}

/// Layer normalisation of states of this width.
pub(super) fn normalise(heads: Heads, arithmetic: Arithmetic) -> String {
    let copies = arithmetic.precision == Precision::F16;
    let lanes = arithmetic.lanes.unwrap_or(ROW_THREADS);
    let parts = (heads.width / 4).div_ceil(lanes);
    let total = match arithmetic.lanes {
        Some(_) => {
            "fn own_row(group: u32, local: u32) -> u32 { return group * ROWS + local / LANES; }\n\
             fn total(local: u32, value: f32) -> f32 { return subgroupAdd(value); }\n"
        }
        None => include_str!("total.wgsl"),
    };
    // Browsers want it said; natively it is not known by that name.
    let is_said = arithmetic.lanes.is_some() && cfg!(target_arch = "wasm32");
    let subgroups = if is_said { "enable subgroups;\n" } else { "" };
    format!(
        "{}{subgroups}const LANES = {lanes}u;\nconst ROWS = {}u;\nconst PARTS = {parts}u;\nconst COPIES = {copies};\nalias Output = {};\n\
         {total}{}",
        arithmetic.enabled(),
        normalised_rows(arithmetic),
        arithmetic.number(),
        include_str!("normalise.wgsl")
    )
}

/// First states from tables on the device.
pub(super) fn look_up() -> String {
    include_str!("look_up.wgsl").to_owned()
}

/// One vector a text.
pub(super) fn pool(pooling: Pooling) -> String {
    format!("const MEAN = {};\n{}", pooling == Pooling::Mean, include_str!("pool.wgsl"))
}

/// Numbers that the normalisation is told of.
pub(super) fn of_states(states: States, heads: Heads) -> [u32; 4] {
    [states.hidden as u32, heads.width as u32 / 4, states.epsilon.to_bits(), 0]
}
