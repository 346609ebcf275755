//! C exports that `wasm/run.mjs` calls to run vector files in WebAssembly.
//!
//! The caller allocates with [`alloc`], writes the file's name and content there, calls [`run`], and reads
//! [`output_len`] bytes at [`output`]: the JSON of a [`FileReport`](crate::FileReport). A panic ends in a trap; the
//! message is then at [`output`] instead, and the instance must not be used again. If the host stopped the run,
//! it is empty.

#![allow(unsafe_code, reason = "an export by name is an unsafe attribute; no unsafe block is needed")]

use std::cell::RefCell;
use std::panic;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Allocates `len` bytes of input: the file's name, then its content.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(len: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; len];
        input.as_mut_ptr()
    })
}

/// Runs the file whose name is the first `name_len` bytes of the input and whose content is the rest.
#[unsafe(no_mangle)]
pub extern "C" fn run(name_len: usize) {
    panic::set_hook(Box::new(|panic| OUTPUT.set(panic.to_string().into_bytes())));
    OUTPUT.take();
    let input = INPUT.take();
    let (name, json) = input.split_at(name_len);
    let report = crate::run_file(&String::from_utf8_lossy(name), &String::from_utf8_lossy(json));
    OUTPUT.set(serde_json::to_vec(&report).expect("a report has only texts and numbers"));
}

/// Address of the output of the last [`run`].
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Length of the output in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_len() -> usize {
    OUTPUT.with_borrow(Vec::len)
}
