//! What a kernel can refuse, each named after its class in `subword.errors`.

use std::fmt;
use std::path::PathBuf;

/// The kinds of refusal; `class_name` is the Python class that the border raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An argument outside its range.
    Argument,
    /// A text that no UTF-8 can hold.
    Text,
    /// A text that needs a byte or character the vocabulary lacks.
    UnencodableText,
    /// An empty, repeated or colliding special token.
    SpecialToken,
    /// A text that spells a forbidden special token.
    SpecialTokenInText,
    /// A pattern that does not compile or passed its step limit.
    Pattern,
    /// A source whose content cannot be read as declared.
    Corpus,
    /// A source that the operating system does not open or read.
    Source,
    /// A path at which there is nothing.
    SourceNotFound,
    /// A directory where a file was expected.
    SourceIsDirectory,
    /// A file of our own that the operating system does not write or read.
    Disk,
    /// A sum of counts past 64 bits.
    CountOverflow,
    /// A count table that is damaged or does not fit the call.
    Counts,
    /// A `vocab_size` that the required tokens do not fit in.
    VocabSize,
    /// Duplicate tokens or ids, merges that name unknown tokens.
    Vocabulary,
    /// An id outside the vocabulary.
    UnknownTokenId,
    /// A damaged tokenizer file.
    Format,
    /// An allocation that failed.
    Memory,
    /// The caller asked to stop (Ctrl-C).
    Interrupted,
}

impl Kind {
    /// The class of `subword.errors` (or builtin) for this kind.
    #[must_use]
    pub fn class_name(self) -> &'static str {
        match self {
            Self::Argument => "ArgumentError",
            Self::Text => "TextError",
            Self::UnencodableText => "UnencodableTextError",
            Self::SpecialToken => "SpecialTokenError",
            Self::SpecialTokenInText => "SpecialTokenInTextError",
            Self::Pattern => "PatternError",
            Self::Corpus => "CorpusError",
            Self::Source => "SourceError",
            Self::SourceNotFound => "SourceNotFoundError",
            Self::SourceIsDirectory => "SourceIsDirectoryError",
            Self::Disk => "OSError",
            Self::CountOverflow => "CountOverflowError",
            Self::Counts => "CountsError",
            Self::VocabSize => "VocabSizeError",
            Self::Vocabulary => "VocabularyError",
            Self::UnknownTokenId => "UnknownTokenIdError",
            Self::Format => "FormatError",
            Self::Memory => "MemoryError",
            Self::Interrupted => "KeyboardInterrupt",
        }
    }
}

/// A refusal: its kind and a message with what was got, where, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Which refusal.
    pub kind: Kind,
    /// For a person.
    pub message: String,
    /// What an `OSError` carries besides its message.
    pub os: Option<Box<OsFailure>>,
}

/// The `errno` and `filename` of an `OSError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OsFailure {
    /// The operating system's error number.
    pub errno: i32,
    /// The path it was about.
    pub path: PathBuf,
}

impl Error {
    /// A refusal of `kind` that says `message`.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), os: None }
    }

    /// The caller asked to stop.
    #[must_use]
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<std::collections::TryReserveError> for Error {
    fn from(error: std::collections::TryReserveError) -> Self {
        Self::new(Kind::Memory, format!("not enough memory: {error}"))
    }
}

/// What every kernel returns.
pub type Result<T> = std::result::Result<T, Error>;
