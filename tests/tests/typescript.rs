//! The TypeScript types in `wasm/types` are those of the Rust types.

#[test]
fn the_typescript_types_are_those_of_the_rust_types() {
    for (name, text) in closeread_wasm::typescript::files() {
        expect_test::expect_file![format!("../../wasm/types/{name}")].assert_eq(&text);
    }
}
