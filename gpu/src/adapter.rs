//! Which graphics processor computes.

use crate::arithmetic::Matrices;
use crate::{GpuError, Precision};
use wgpu::{CooperativeScalarType, DeviceType, Features};

/// Which adapter is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// The fastest graphics processor. Adapters that compute on the processor are slower than the encoder and refused.
    #[default]
    Hardware,
    /// The first whose name has this in it, upper case or lower, whatever computes it.
    Named(String),
    /// The fastest of all, one in software if there is nothing else.
    Any,
}

/// An adapter that may be used: a graphics processor under one driver.
#[derive(Debug, Clone)]
pub struct Adapter {
    pub(crate) adapter: wgpu::Adapter,
    name: String,
    is_software: bool,
}

impl Adapter {
    /// Looks for an adapter.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`], with what was found instead and how to use it all the same.
    pub async fn find(wanted: &Wanted) -> Result<Self, GpuError> {
        let all = Self::all().await;
        let chosen = match wanted {
            Wanted::Hardware => all.iter().find(|adapter| !adapter.is_software),
            Wanted::Any => all.first(),
            Wanted::Named(part) => {
                let part = part.to_lowercase();
                all.iter().find(|adapter| adapter.name.to_lowercase().contains(&part))
            }
        };
        chosen.cloned().ok_or_else(|| GpuError::NoAdapter(missing(wanted, &all)))
    }

    /// Its name and what drives it, e.g. `NVIDIA H100 (vulkan)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the processor computes what it is asked for.
    pub fn is_software(&self) -> bool {
        self.is_software
    }

    /// The precision asked for, or f32 where the adapter does not compute in half precision.
    pub fn precision(&self, asked: Precision) -> Precision {
        if self.adapter.features().contains(Features::SHADER_F16) { asked } else { Precision::F32 }
    }

    /// Threads that run in step, where all groups of them have one size.
    pub(crate) fn lanes(&self) -> Option<usize> {
        let info = self.adapter.get_info();
        (info.subgroup_min_size == info.subgroup_max_size).then_some(info.subgroup_max_size as usize)
    }

    /// The largest units for small square matrices that take halves, add in f32 and find room in a workgroup's memory.
    pub(crate) fn matrices(&self, lanes: usize) -> Option<Matrices> {
        let offered = self.adapter.cooperative_matrix_properties();
        let has = |side: u32| {
            offered.iter().any(|unit| {
                (unit.m_size, unit.n_size, unit.k_size) == (side, side, side)
                    && (unit.ab_type, unit.cr_type) == (CooperativeScalarType::F16, CooperativeScalarType::F32)
            })
        };
        let room = self.adapter.limits().max_compute_workgroup_storage_size as usize;
        let found = [16, 8].into_iter().find(|&side| has(side)).map(|side| Matrices { side: side as usize, lanes });
        found.filter(|matrices| matrices.shared_bytes() <= room)
    }

    fn new(adapter: wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        let is_software = info.device_type == DeviceType::Cpu || is_software_name(&info.name);
        let name = if info.name.is_empty() { "unnamed adapter" } else { &info.name };
        Self { name: format!("{name} ({})", info.backend), is_software, adapter }
    }

    /// All of them, graphics processors of their own first, software last.
    #[cfg(not(target_arch = "wasm32"))]
    async fn all() -> Vec<Self> {
        let mut all: Vec<wgpu::Adapter> = instance().enumerate_adapters(wgpu::Backends::all()).await;
        all.sort_by_key(|adapter| match adapter.get_info().device_type {
            DeviceType::DiscreteGpu => 0,
            DeviceType::IntegratedGpu => 1,
            DeviceType::VirtualGpu => 2,
            DeviceType::Other => 3,
            DeviceType::Cpu => 4,
        });
        all.into_iter().map(Self::new).collect()
    }

    /// The one that the browser offers, if any.
    #[cfg(target_arch = "wasm32")]
    async fn all() -> Vec<Self> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..wgpu::RequestAdapterOptions::default()
        };
        let adapter = instance().request_adapter(&options).await;
        adapter.into_iter().map(Self::new).collect()
    }
}

fn instance() -> wgpu::Instance {
    let mut description = wgpu::InstanceDescriptor::new_without_display_handle();
    description.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(description)
}

/// Browsers do not always say of a software adapter that it is one.
fn is_software_name(name: &str) -> bool {
    let name = name.to_lowercase();
    ["swiftshader", "llvmpipe", "lavapipe", "softpipe", "basic render"].iter().any(|known| name.contains(known))
}

fn missing(wanted: &Wanted, all: &[Adapter]) -> String {
    let names: Vec<&str> = all.iter().map(Adapter::name).collect();
    let names = names.join(", ");
    match wanted {
        _ if all.is_empty() => "this machine offers no adapter".to_owned(),
        Wanted::Named(part) => format!("none of {names} has `{part}` in its name"),
        _ => format!("{names} computes on the processor, slower than the encoder does, and is used only if asked for"),
    }
}
