//! The published data sets by name.

use super::Adapter;
use super::{corpusqa, hamlet, infinitebench, narrativeqa, novelqa, quality, sagascale};
#[cfg(feature = "other-formats")]
use super::{fairytaleqa, frames, leval_quality, longbench_v2, loogle, nocha, squality};

/// Every adapter, in the order in which help lists them.
pub static ADAPTERS: &[Adapter] = &[
    #[cfg(feature = "other-formats")]
    fairytaleqa::ADAPTER,
    #[cfg(feature = "other-formats")]
    frames::ADAPTER,
    #[cfg(feature = "other-formats")]
    longbench_v2::ADAPTER,
    #[cfg(feature = "other-formats")]
    loogle::ADAPTER,
    #[cfg(feature = "other-formats")]
    leval_quality::ADAPTER,
    quality::ADAPTER,
    #[cfg(feature = "other-formats")]
    nocha::ADAPTER,
    #[cfg(feature = "other-formats")]
    squality::ADAPTER,
    infinitebench::ADAPTER,
    narrativeqa::ADAPTER,
    novelqa::ADAPTER,
    sagascale::ADAPTER,
    corpusqa::ADAPTER,
    hamlet::ADAPTER,
];

/// The adapter of that name.
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}
