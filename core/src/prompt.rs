//! (module docs follow with the first item)
