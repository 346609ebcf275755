//! Vector instructions: which there are, and which of them this processor has.

use super::table::{self, Table};

/// Instructions that the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// The instructions that every processor of the target has, and no others.
    Plain,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL and VNNI.
    Avx512,
    /// WebAssembly with simd128, where the module was compiled with it.
    Simd128,
    /// aarch64 with NEON.
    Neon,
}

impl Instructions {
    /// Returns the sets that this processor has, plain first, the fastest last.
    pub fn available() -> Vec<Self> {
        let all = [Self::Plain, Self::Avx2, Self::Avx512, Self::Simd128, Self::Neon];
        all.into_iter().filter(|set| set.table().is_some()).collect()
    }

    /// The fastest of them.
    pub fn fastest() -> Self {
        *Self::available().last().expect("plain instructions are always there")
    }

    /// Returns the name of the set in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Simd128 => "simd128",
            Self::Neon => "neon",
        }
    }

    /// The kernels, if this processor can run them.
    pub(super) fn table(self) -> Option<&'static Table> {
        match self {
            Self::Plain => Some(&table::PLAIN),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => has_avx2().then_some(&table::AVX2),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => has_avx512().then_some(&table::AVX512),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => Some(&table::SIMD128),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Some(&table::NEON),
            #[allow(unreachable_patterns, reason = "no target has all of them")]
            _ => None,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}
