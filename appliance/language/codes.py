"""Table of the languages that the box can be set to: those that espeak-ng 1.51 has a voice for.

The codes are ISO 639-1, or ISO 639-3 where that has none. Constructed languages are left out.
"""

from __future__ import annotations

NAMES = {
    "af": "Afrikaans", "am": "Amharic", "an": "Aragonese", "ar": "Arabic", "as": "Assamese",
    "az": "Azerbaijani", "ba": "Bashkir", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali",
    "bpy": "Bishnupriya Manipuri", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech",
    "cv": "Chuvash", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gd": "Scottish Gaelic",
    "gn": "Guarani", "gu": "Gujarati", "hak": "Hakka Chinese", "haw": "Hawaiian", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "ht": "Haitian Creole", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "kk": "Kazakh", "kl": "Greenlandic", "kn": "Kannada", "ko": "Korean", "kok": "Konkani",
    "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin", "lb": "Luxembourgish", "lt": "Lithuanian",
    "lv": "Latvian", "mi": "Māori", "mk": "Macedonian", "ml": "Malayalam", "mr": "Marathi",
    "ms": "Malay", "mt": "Maltese", "my": "Burmese", "nb": "Norwegian", "ne": "Nepali",
    "nl": "Dutch", "no": "Norwegian", "om": "Oromo", "or": "Odia", "pa": "Punjabi",
    "pap": "Papiamento", "pl": "Polish", "pt": "Portuguese", "qu": "Quechua", "ro": "Romanian",
    "ru": "Russian", "sd": "Sindhi", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "te": "Telugu", "th": "Thai", "tk": "Turkmen", "tn": "Tswana", "tr": "Turkish",
    "tt": "Tatar", "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek",
    "vi": "Vietnamese", "yue": "Cantonese", "zh": "Chinese",
}  # fmt: skip
# Each language's own name (CLDR 47, where that has it), so that its speakers can find it in a list.
OWN_NAMES = {
    "af": "Afrikaans", "am": "አማርኛ", "an": "aragonés", "ar": "العربية", "as": "অসমীয়া",
    "az": "azərbaycan", "ba": "башҡорт теле", "be": "беларуская", "bg": "български",
    "bn": "বাংলা", "bpy": "বিষ্ণুপ্রিয়া মণিপুরী", "bs": "bosanski", "ca": "català",
    "cs": "čeština", "cv": "чӑваш", "cy": "Cymraeg", "da": "dansk", "de": "Deutsch",
    "el": "Ελληνικά", "en": "English", "eo": "Esperanto", "es": "español", "et": "eesti",
    "eu": "euskara", "fa": "فارسی", "fi": "suomi", "fr": "français", "ga": "Gaeilge",
    "gd": "Gàidhlig", "gn": "avañe’ẽ", "gu": "ગુજરાતી", "hak": "客家話", "haw": "ʻŌlelo Hawaiʻi",
    "he": "עברית", "hi": "हिन्दी", "hr": "hrvatski", "ht": "Kreyòl Ayisyen", "hu": "magyar",
    "hy": "հայերեն", "id": "Indonesia", "is": "íslenska", "it": "italiano", "ja": "日本語",
    "ka": "ქართული", "kk": "қазақ тілі", "kl": "kalaallisut", "kn": "ಕನ್ನಡ", "ko": "한국어",
    "kok": "कोंकणी", "ku": "kurdî (kurmancî)", "ky": "кыргызча", "la": "Latina",
    "lb": "Lëtzebuergesch", "lt": "lietuvių", "lv": "latviešu", "mi": "Māori", "mk": "македонски",
    "ml": "മലയാളം", "mr": "मराठी", "ms": "Melayu", "mt": "Malti", "my": "မြန်မာ", "nb": "norsk",
    "ne": "नेपाली", "nl": "Nederlands", "no": "norsk", "om": "Oromoo", "or": "ଓଡ଼ିଆ",
    "pa": "ਪੰਜਾਬੀ", "pap": "Papiamentu", "pl": "polski", "pt": "português", "qu": "Runasimi",
    "ro": "română", "ru": "русский", "sd": "سنڌي", "si": "සිංහල", "sk": "slovenčina",
    "sl": "slovenščina", "sq": "shqip", "sr": "српски", "sv": "svenska", "sw": "Kiswahili",
    "ta": "தமிழ்", "te": "తెలుగు", "th": "ไทย", "tk": "türkmen dili", "tn": "Setswana",
    "tr": "Türkçe", "tt": "татар", "ug": "ئۇيغۇرچە", "uk": "українська", "ur": "اردو",
    "uz": "o‘zbek", "vi": "Tiếng Việt", "yue": "粵語", "zh": "中文",
}  # fmt: skip
# Languages whose espeak-ng voice is not named by the language's code alone.
_ESPEAK_VOICES = {"en": "en-us", "fr": "fr-fr", "zh": "cmn", "no": "nb"}
_ALIASES = {"no": "nb", "nn": "nb", "cmn": "zh", "iw": "he", "in": "id"}


def espeak_voice(language: str) -> str:
    """The name of espeak-ng's voice; `language` is one of NAMES."""
    return _ESPEAK_VOICES.get(language, language)


def choices(chosen: str = "") -> dict[str, str]:
    """OWN_NAMES for a selection list, in alphabetical order, each language once. Of two codes for
    one language it has `chosen` if that is one of them, or else the code that base() returns."""
    return {
        chosen if chosen in NAMES and base(chosen) == code else code: name
        for code, name in sorted(OWN_NAMES.items(), key=lambda item: item[1].casefold())
        if base(code) == code
    }


def base(code: str) -> str:
    """A language's code without country or script: de_DE, pt-br and zh-Hant → de, pt and zh.
    Any code of Norwegian gives nb."""
    code = code.replace("_", "-").partition("-")[0].lower()
    return _ALIASES.get(code, code)
