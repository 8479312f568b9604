/** A name as programs write it, in words: "elect_master" is "elect master". */
export function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

/** The beginning of a sentence. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
