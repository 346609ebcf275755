//! Merging of options from the command line and from a file.

/// Merges an option of the command line and that of a file: the file's value holds if none was given.
pub(super) fn if_not_given<T: Default + PartialEq>(given: &mut T, of_file: T) {
    if *given == T::default() {
        *given = of_file;
    }
}

/// Merges lists whose later entries win: the file's entries come first.
pub(super) fn after<T>(given: &mut Vec<T>, mut of_file: Vec<T>) {
    of_file.append(given);
    *given = of_file;
}
