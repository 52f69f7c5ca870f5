// Texts that are one click away. The sentence in many languages is the first of article 1 of the
// Universal Declaration of Human Rights, which is free to use.

export const EXAMPLES = {
  english: "Tokenization is the step that decides what a language model can see. It doesn't see letters; it sees pieces.",
  languages: "Hello, world! 你好，世界！ こんにちは世界 안녕하세요 Привет, мир! مرحبا بالعالم नमस्ते दुनिया Γειά σου Κόσμε",
  code: "def fib(n: int) -> int:\n\t# the n-th number\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
  numbers: "3.14159265 1984 1,000,000 12345678 127 + 677 = 804",
  emoji: "👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇫🇷 ❤️ café cafe\u0301",
  hidden: "zero\u200bwidth\u00a0spaces, a\u202eright-to-left override\u202c, a soft\u00adhyphen, a byte order mark\ufeff, a bell\u0007 and a tab\there\r\n",
  special: "The end.<|endoftext|>[CLS] The beginning. [SEP]<s></s>",
};

export const PARALLEL = [
  ["English", "All human beings are born free and equal in dignity and rights."],
  ["Français", "Tous les êtres humains naissent libres et égaux en dignité et en droits."],
  ["Deutsch", "Alle Menschen sind frei und gleich an Würde und Rechten geboren."],
  ["Español", "Todos los seres humanos nacen libres e iguales en dignidad y derechos."],
  ["Türkçe", "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar."],
  ["Suomi", "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan."],
  ["Ελληνικά", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα."],
  ["Русский", "Все люди рождаются свободными и равными в своем достоинстве и правах."],
  ["العربية", "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق."],
  ["हिन्दी", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।"],
  ["ไทย", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"],
  ["中文", "人人生而自由，在尊严和权利上一律平等。"],
  ["日本語", "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。"],
  ["한국어", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."],
].map((row) => row.join("\t")).join("\n");

export const LESSONS = {
  cat: { text: "the cat in the hat", algorithm: "bpe", pattern: "none", ties: "first", alphabet: "bytes", n_steps: 5, end_of_word: false },
  low: {
    text: "low low low low low lower lower newest newest newest newest newest newest widest widest widest",
    algorithm: "bpe", pattern: "whitespace", ties: "first", alphabet: "characters", n_steps: 10, end_of_word: true,
  },
  hug: {
    text: `${"hug ".repeat(10)}${"pug ".repeat(5)}${"pun ".repeat(12)}${"bun ".repeat(4)}${"hugs ".repeat(5)}`.trim(),
    algorithm: "wordpiece", pattern: "whitespace", ties: "greatest", score: "likelihood", n_steps: 8,
  },
  unigram: {
    text: `${"hug ".repeat(10)}${"pug ".repeat(5)}${"pun ".repeat(12)}${"bun ".repeat(4)}${"hugs ".repeat(5)}`.trim(),
    algorithm: "unigram", pattern: "whitespace", vocab_size: 10,
  },
  aaa: { text: "aaabdaaabac", algorithm: "bpe", pattern: "none", ties: "first", alphabet: "bytes", n_steps: 3, end_of_word: false },
};
