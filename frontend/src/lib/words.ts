/** A name as programs write it, in words: "elect_master" is "elect master". */
export function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

/** The beginning of a sentence. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text that another sentence follows: it ends with a full stop, unless it ends already. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
