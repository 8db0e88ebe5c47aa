//! What the UI needs of the process around it, which it may not do itself.

/// The process around the UI.
pub trait World: Send {
    /// The time now, Unix milliseconds.
    fn now_ms(&self) -> i64;

    /// Lets the person edit a text in their own editor, which has the terminal meanwhile. The error says what to do.
    ///
    /// # Errors
    ///
    /// A sentence, where there is no editor or it failed; the text stays as it was.
    fn edit(&mut self, text: &str) -> Result<String, String>;

    /// Makes this the theme from here on, also of the next starts of the program. The error says what to do.
    ///
    /// # Errors
    ///
    /// A sentence, where that can't be kept.
    fn keep_theme(&mut self, name: &str) -> Result<(), String>;

    /// Stops the process until the shell wakes it.
    ///
    /// # Errors
    ///
    /// Where the system refuses that.
    fn suspend(&mut self) -> std::io::Result<()>;
}
