//! Which script each character is of, for cuts between scripts.

use super::classes::class_ranges;
use crate::error::Result;

/// Every value of the Unicode property Script that the pinned tables have.
pub const SCRIPT_NAMES: &[&str] = &[
    "Adlam",
    "Ahom",
    "Anatolian_Hieroglyphs",
    "Arabic",
    "Armenian",
    "Avestan",
    "Balinese",
    "Bamum",
    "Bassa_Vah",
    "Batak",
    "Bengali",
    "Bhaiksuki",
    "Bopomofo",
    "Brahmi",
    "Braille",
    "Buginese",
    "Buhid",
    "Canadian_Aboriginal",
    "Carian",
    "Caucasian_Albanian",
    "Chakma",
    "Cham",
    "Cherokee",
    "Chorasmian",
    "Common",
    "Coptic",
    "Cuneiform",
    "Cypriot",
    "Cypro_Minoan",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Dives_Akuru",
    "Dogra",
    "Duployan",
    "Egyptian_Hieroglyphs",
    "Elbasan",
    "Elymaic",
    "Ethiopic",
    "Garay",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Grantha",
    "Greek",
    "Gujarati",
    "Gunjala_Gondi",
    "Gurmukhi",
    "Gurung_Khema",
    "Han",
    "Hangul",
    "Hanifi_Rohingya",
    "Hanunoo",
    "Hatran",
    "Hebrew",
    "Hiragana",
    "Imperial_Aramaic",
    "Inherited",
    "Inscriptional_Pahlavi",
    "Inscriptional_Parthian",
    "Javanese",
    "Kaithi",
    "Kannada",
    "Katakana",
    "Kawi",
    "Kayah_Li",
    "Kharoshthi",
    "Khitan_Small_Script",
    "Khmer",
    "Khojki",
    "Khudawadi",
    "Kirat_Rai",
    "Lao",
    "Latin",
    "Lepcha",
    "Limbu",
    "Linear_A",
    "Linear_B",
    "Lisu",
    "Lycian",
    "Lydian",
    "Mahajani",
    "Makasar",
    "Malayalam",
    "Mandaic",
    "Manichaean",
    "Marchen",
    "Masaram_Gondi",
    "Medefaidrin",
    "Meetei_Mayek",
    "Mende_Kikakui",
    "Meroitic_Cursive",
    "Meroitic_Hieroglyphs",
    "Miao",
    "Modi",
    "Mongolian",
    "Mro",
    "Multani",
    "Myanmar",
    "Nabataean",
    "Nag_Mundari",
    "Nandinagari",
    "New_Tai_Lue",
    "Newa",
    "Nko",
    "Nushu",
    "Nyiakeng_Puachue_Hmong",
    "Ogham",
    "Ol_Chiki",
    "Ol_Onal",
    "Old_Hungarian",
    "Old_Italic",
    "Old_North_Arabian",
    "Old_Permic",
    "Old_Persian",
    "Old_Sogdian",
    "Old_South_Arabian",
    "Old_Turkic",
    "Old_Uyghur",
    "Oriya",
    "Osage",
    "Osmanya",
    "Pahawh_Hmong",
    "Palmyrene",
    "Pau_Cin_Hau",
    "Phags_Pa",
    "Phoenician",
    "Psalter_Pahlavi",
    "Rejang",
    "Runic",
    "Samaritan",
    "Saurashtra",
    "Sharada",
    "Shavian",
    "Siddham",
    "SignWriting",
    "Sinhala",
    "Sogdian",
    "Sora_Sompeng",
    "Soyombo",
    "Sundanese",
    "Sunuwar",
    "Syloti_Nagri",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Tai_Le",
    "Tai_Tham",
    "Tai_Viet",
    "Takri",
    "Tamil",
    "Tangsa",
    "Tangut",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Tirhuta",
    "Todhri",
    "Toto",
    "Tulu_Tigalari",
    "Ugaritic",
    "Vai",
    "Vithkuqi",
    "Wancho",
    "Warang_Citi",
    "Yezidi",
    "Yi",
    "Zanabazar_Square",
];

/// The number of a script in `SCRIPT_NAMES`; none for an unassigned character.
pub type Script = Option<u8>;

/// Scripts by code point range, in order.
#[derive(Debug, Clone)]
pub struct Scripts {
    ranges: Vec<(u32, u32, u8)>,
    han: Script,
}

impl Scripts {
    /// Read the pinned tables.
    ///
    /// # Errors
    ///
    /// `Pattern`, which would mean that a name of the list is not in the tables.
    pub fn new() -> Result<Self> {
        let mut ranges = Vec::new();
        for (number, name) in (0_u8..).zip(SCRIPT_NAMES) {
            for (start, end) in class_ranges(&format!(r"\p{{Script={name}}}"))? {
                ranges.push((start, end, number));
            }
        }
        ranges.sort_unstable();
        let mut scripts = Self { ranges, han: None };
        scripts.han = scripts.of('\u{4e00}');
        // Japanese text mixes three scripts in one word.
        for kana in ['\u{3042}', '\u{30a2}'] {
            let (from, to) = (scripts.of(kana), scripts.han);
            for range in &mut scripts.ranges {
                if Some(range.2) == from {
                    range.2 = to.unwrap_or(range.2);
                }
            }
        }
        Ok(scripts)
    }

    /// The script that cuts look at: kana and the mark that lengthens vowels are Han, and a
    /// space is of none. Source: tokenizers 0.23.3, `fixed_script`.
    #[must_use]
    pub fn of(&self, character: char) -> Script {
        match character {
            ' ' => None,
            '\u{30fc}' => self.han,
            _ => self.look_up(u32::from(character)),
        }
    }

    /// `(first, last, script number)` of each range, kana counted as Han.
    #[must_use]
    pub fn ranges(&self) -> &[(u32, u32, u8)] {
        &self.ranges
    }

    fn look_up(&self, code: u32) -> Script {
        let after = self.ranges.partition_point(|&(start, _, _)| start <= code);
        let &(_, end, number) = self.ranges.get(after.checked_sub(1)?)?;
        (code <= end).then_some(number)
    }
}
