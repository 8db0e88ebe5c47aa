//! What belongs in the files after steps on one half, by the entries that are wanted.
