//! No instruction set in particular: four numbers at a time, which most compilers turn into vectors.

use super::simd::{ROUNDER, Simd};

/// Runs everywhere, Miri included; the other instruction sets are tested against it.
#[derive(Clone, Copy)]
pub(super) struct Plain;

#[inline(always)]
fn each<A: Copy, B: Copy, C>(a: [A; 4], b: [B; 4], f: impl Fn(A, B) -> C) -> [C; 4] {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

impl Simd for Plain {
    type Floats = [f32; 4];
    type Ints = [i32; 4];
    const LANES: usize = 4;
    const ROWS: usize = 4;

    #[inline(always)]
    unsafe fn load(at: *const f32) -> [f32; 4] {
        at.cast::<[f32; 4]>().read_unaligned()
    }
    #[inline(always)]
    unsafe fn store(at: *mut f32, x: [f32; 4]) {
        at.cast::<[f32; 4]>().write_unaligned(x);
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> [f32; 4] {
        [x; 4]
    }
    #[inline(always)]
    unsafe fn add(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(a, b, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn sub(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(a, b, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn mul(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(a, b, |a, b| a * b)
    }
    #[inline(always)]
    unsafe fn div(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(a, b, |a, b| a / b)
    }
    #[inline(always)]
    unsafe fn min(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    unsafe fn max(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        each(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    unsafe fn mul_add(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        each(each(a, b, |a, b| a * b), c, |ab, c| ab + c)
    }
    #[inline(always)]
    unsafe fn sum(x: [f32; 4]) -> f32 {
        (x[0] + x[2]) + (x[1] + x[3])
    }
    #[inline(always)]
    unsafe fn largest(x: [f32; 4]) -> f32 {
        x.into_iter().fold(x[0], |largest, x| if x > largest { x } else { largest })
    }
    #[inline(always)]
    unsafe fn round(x: [f32; 4]) -> [i32; 4] {
        x.map(|x| ((x + ROUNDER) - ROUNDER) as i32)
    }
    #[inline(always)]
    unsafe fn to_floats(x: [i32; 4]) -> [f32; 4] {
        x.map(|x| x as f32)
    }
    #[inline(always)]
    unsafe fn times_power_of_two(x: [f32; 4], n: [f32; 4]) -> [f32; 4] {
        each(x, n, |x, n| f32::from_bits(x.to_bits().wrapping_add(n.to_bits() << 23)))
    }
    #[inline(always)]
    unsafe fn zeros() -> [i32; 4] {
        [0; 4]
    }
    #[inline(always)]
    unsafe fn load_steps(at: *const u8) -> [i32; 4] {
        at.cast::<[i32; 4]>().read_unaligned()
    }
    #[inline(always)]
    unsafe fn store_steps(at: *mut u8, x: [i32; 4]) {
        at.cast::<[i32; 4]>().write_unaligned(x);
    }
    #[inline(always)]
    unsafe fn pairs(low: [i32; 4], high: [i32; 4]) -> [i32; 4] {
        each(low, high, |low, high| low & 0xffff | high << 16)
    }
    #[inline(always)]
    unsafe fn splat_step(at: *const u8) -> [i32; 4] {
        [at.cast::<i32>().read_unaligned(); 4]
    }
    #[inline(always)]
    unsafe fn add_dot_i16(sum: [i32; 4], a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        let low = |x: i32| i32::from(x as i16);
        let dots = each(a, b, |a, b| (low(a) * low(b)).wrapping_add((a >> 16) * (b >> 16)));
        each(sum, dots, i32::wrapping_add)
    }
    #[inline(always)]
    unsafe fn add_dot_u8_i8(sum: [i32; 4], a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        let product = |a: u8, b: u8| i32::from(a) * i32::from(b as i8);
        let dots = each(a, b, |a, b| each(a.to_le_bytes(), b.to_le_bytes(), product).into_iter().sum::<i32>());
        each(sum, dots, i32::wrapping_add)
    }
    #[inline(always)]
    unsafe fn store_i16(at: *mut i16, x: [i32; 4]) {
        at.cast::<[i16; 4]>().write_unaligned(x.map(|x| x as i16));
    }
    #[inline(always)]
    unsafe fn store_u8(at: *mut u8, x: [i32; 4]) {
        at.cast::<[u8; 4]>().write_unaligned(x.map(|x| x as u8));
    }
}
