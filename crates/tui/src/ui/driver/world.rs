//! What the UI needs from its process and must not do itself.

/// The process around the UI.
pub trait World: Send {
    /// The current time, in Unix milliseconds.
    fn now_ms(&self) -> i64;

    /// Lets the person edit a text in their own editor, which has the terminal meanwhile. The error says what to do.
    ///
    /// # Errors
    ///
    /// A sentence, if there is no editor or it failed; the text is unchanged.
    fn edit(&mut self, text: &str) -> Result<String, String>;

    /// Makes this the theme from here on, also for later starts of the program. The error says what to do.
    ///
    /// # Errors
    ///
    /// A sentence, if that can't be stored.
    fn keep_theme(&mut self, name: &str) -> Result<(), String>;

    /// Stops the process until the shell resumes it.
    ///
    /// # Errors
    ///
    /// If the system refuses that.
    fn suspend(&mut self) -> std::io::Result<()>;
}
