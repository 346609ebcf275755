# What is done often; `just` lists it. Everything is `cargo xtask`, see `cargo xtask help`.

_default:
    @just --list

# The checks of a pull request; installs what they need
test:
    cargo xtask test --install

# Format, clippy, layers
lint:
    cargo fmt --all
    cargo xtask test --only lints,layers

# Help pages, after an option has changed
help:
    UPDATE_EXPECT=1 cargo nextest run --package closeread --features closeread/full -E 'test(help::)'

# The page, into web/dist
web:
    cargo xtask web

# The documentation as a site, into target/docs/site
docs:
    cargo xtask docs --install

# What people install, into target/artifacts
dist:
    cargo xtask dist
