//! How options of the command line and of a file become one.

/// How an option of the command line and that of a file become one.
pub(super) fn if_not_given<T: Default + PartialEq>(given: &mut T, of_file: T) {
    if *given == T::default() {
        *given = of_file;
    }
}

/// The same for lists whose later entries win.
pub(super) fn after<T>(given: &mut Vec<T>, mut of_file: Vec<T>) {
    of_file.append(given);
    *given = of_file;
}
