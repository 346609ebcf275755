//! Statistics: how far a number can be trusted.
//!
//! Every score carries a 95% interval clustered by book ([`estimate`]), every comparison of two runs is paired
//! ([`paired::compare`]). What has no value is `None`, never a number that is not one; no result depends on the
//! platform, and what is drawn at random is drawn with a fixed seed.

pub mod accuracy;
pub mod agreement;
pub mod bootstrap;
pub mod clustered;
pub mod corrected;
pub mod correlation;
mod distribution;
mod interval;
mod moments;
pub mod multiple;
pub mod paired;
pub mod power;
pub mod proportion;
mod sign_flip;
mod special;
mod wilcoxon;

pub use bootstrap::{Bootstrap, bootstrap_mean, bootstrap_statistic};
pub use clustered::{ClusteredMean, Observation, clustered_mean};
pub use interval::{Estimate, IntervalMethod, estimate};
pub use moments::{Divisor, mean, standard_deviation};
pub use power::SampleSize;
pub use proportion::wilson;
pub use sign_flip::{Permutation, permutation};
pub use wilcoxon::{Wilcoxon, wilcoxon};
