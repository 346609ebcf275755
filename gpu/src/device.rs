//! A device, its buffers, and what became of it.

use crate::arithmetic::{Arithmetic, Matrices};
use crate::{Adapter, GpuError, Precision};
use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{Either, Shared, select};
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::{BufferUsages, ErrorFilter, Features};

/// Between two looks at what the device has done.
#[cfg(not(target_arch = "wasm32"))]
const PAUSE: std::time::Duration = std::time::Duration::from_micros(50);

/// An open adapter.
pub(crate) struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    adapter: String,
    /// The widest units for small matrices that the adapter has.
    matrices: Option<Matrices>,
    lanes: Option<usize>,
    /// Ends when the device is lost.
    lost: Shared<oneshot::Receiver<String>>,
    /// An error that nobody waited for.
    failed: Arc<Mutex<Option<String>>>,
}

impl Device {
    /// Opens an adapter, with as much memory as it gives.
    pub(crate) async fn open(adapter: &Adapter) -> Result<Self, GpuError> {
        let unusable = |problem| GpuError::Unusable { adapter: adapter.name().to_owned(), problem };
        let offered = adapter.adapter.limits();
        let required_limits = wgpu::Limits {
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            max_buffer_size: offered.max_buffer_size,
            max_compute_workgroup_storage_size: offered.max_compute_workgroup_storage_size,
            ..wgpu::Limits::default()
        };
        let wanted = Features::SHADER_F16 | Features::SUBGROUP | Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
        let required_features = adapter.adapter.features() & wanted;
        // Safety: what is experimental is used by `product_matrix.wgsl` alone, within its rules.
        #[allow(unsafe_code, reason = "the only way to the units for small matrices")]
        let experimental_features = unsafe { wgpu::ExperimentalFeatures::enabled() };
        let description = wgpu::DeviceDescriptor {
            required_limits,
            required_features,
            experimental_features,
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = adapter.adapter.request_device(&description).await;
        let (device, queue) = opened.map_err(|error| unusable(error.to_string()))?;
        let lanes = adapter.lanes().filter(|_| required_features.contains(Features::SUBGROUP));
        let matrices = lanes.filter(|_| required_features.contains(wanted)).and_then(|lanes| adapter.matrices(lanes));
        let (sender, lost) = oneshot::channel();
        let sender = Mutex::new(Some(sender));
        device.set_device_lost_callback(move |reason, message| {
            let words = if message.is_empty() { format!("{reason:?}") } else { message };
            if let Some(sender) = sender.lock().unwrap_or_else(PoisonError::into_inner).take() {
                let _ = sender.send(words);
            }
        });
        let failed = Arc::new(Mutex::new(None));
        let heard = Arc::clone(&failed);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            heard.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_string());
        }));
        Ok(Self { device, queue, adapter: adapter.name().to_owned(), matrices, lanes, lost: lost.shared(), failed })
    }

    pub(crate) fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Largest buffer that a kernel can be given, in bytes.
    pub(crate) fn largest_binding(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    /// The fastest way to compute in a precision.
    ///
    /// # Errors
    /// [`GpuError::Unusable`] where the adapter has no half precision.
    pub(crate) fn arithmetic(&self, precision: Precision) -> Result<Arithmetic, GpuError> {
        if precision == Precision::F16 && !self.device.features().contains(Features::SHADER_F16) {
            let problem = "it does not compute in half precision".to_owned();
            return Err(GpuError::Unusable { adapter: self.adapter.clone(), problem });
        }
        Ok(Arithmetic { precision, lanes: self.lanes, matrices: self.matrices })
    }

    pub(crate) fn raw(&self) -> &wgpu::Device {
        &self.device
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// A buffer of this many bytes for kernels, all zero.
    pub(crate) fn buffer(&self, n_bytes: u64, more: BufferUsages) -> wgpu::Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | more;
        let size = n_bytes.next_multiple_of(16).max(16);
        self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    }

    /// A buffer with these numbers in it.
    pub(crate) fn filled<T: bytemuck::Pod>(&self, values: &[T], more: BufferUsages) -> wgpu::Buffer {
        let buffer = self.buffer(size_of_val(values) as u64, more);
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(values));
        buffer
    }

    /// A buffer whose numbers are read back.
    pub(crate) fn read_back(&self, n_bytes: u64) -> wgpu::Buffer {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: n_bytes,
            usage,
            mapped_at_creation: false,
        })
    }

    /// Does something with the device and waits for what it has to say of it.
    pub(crate) async fn checked<T>(&self, work: impl FnOnce(&Self) -> T) -> Result<T, GpuError> {
        let filters = [ErrorFilter::Validation, ErrorFilter::Internal, ErrorFilter::OutOfMemory];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let value = work(self);
        let errors: Vec<_> = scopes.into_iter().rev().map(wgpu::ErrorScopeGuard::pop).collect();
        for error in errors {
            match error.await {
                None => {}
                Some(wgpu::Error::OutOfMemory { .. }) => {
                    return Err(GpuError::OutOfMemory { adapter: self.adapter.clone() });
                }
                Some(error) => return Err(self.failure(error.to_string())),
            }
        }
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(problem) => Err(self.failure(problem)),
            None => Ok(value),
        }
    }

    /// The first `n` numbers of a buffer from [`Device::read_back`], once the device has written them.
    pub(crate) async fn read(&self, buffer: &wgpu::Buffer, n: usize) -> Result<Vec<f32>, GpuError> {
        let (sender, mapped) = oneshot::channel();
        let range = 0..(n * size_of::<f32>()) as u64;
        buffer.map_async(wgpu::MapMode::Read, range.clone(), move |result| drop(sender.send(result)));
        match self.answer(select(mapped, self.lost.clone())).await {
            Either::Left((Ok(Ok(())), _)) => {}
            Either::Right((reason, _)) => return Err(self.failure(reason.unwrap_or_default())),
            Either::Left(_) => return Err(self.failure("its memory could not be read".to_owned())),
        }
        let values = match buffer.get_mapped_range(range) {
            Ok(view) => Ok(bytemuck::pod_collect_to_vec(&view)),
            Err(error) => Err(self.failure(error.to_string())),
        };
        buffer.unmap();
        values
    }

    /// Gives the device back. What is asked of it afterwards fails as if it were lost.
    pub(crate) fn release(&self) {
        self.device.destroy();
        self.settle();
    }

    /// What comes of a question to the device: browsers answer by themselves.
    #[cfg(target_arch = "wasm32")]
    async fn answer<T>(&self, question: impl Future<Output = T>) -> T {
        question.await
    }

    /// What comes of a question to the device. Whoever waited in the driver would keep others from handing in work.
    #[cfg(not(target_arch = "wasm32"))]
    async fn answer<T>(&self, question: impl Future<Output = T>) -> T {
        let mut question = std::pin::pin!(question);
        loop {
            let _ = self.device.poll(wgpu::PollType::Poll);
            if let Some(answer) = question.as_mut().now_or_never() {
                return answer;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Lets the device finish and call back; browsers do so by themselves.
    fn settle(&self) {
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
    }

    /// What stands in the way, with the reason of a loss where that is the cause.
    fn failure(&self, problem: String) -> GpuError {
        let problem = match self.lost.peek() {
            Some(Ok(reason)) => reason.clone(),
            _ => self.lost.clone().now_or_never().and_then(Result::ok).unwrap_or(problem),
        };
        GpuError::Lost { adapter: self.adapter.clone(), problem }
    }
}
