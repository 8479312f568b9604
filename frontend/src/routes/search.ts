/** Reads view state out of an address; whatever makes no sense there counts as not given. */
export function textOf(raw: unknown): string | undefined {
  if (typeof raw === 'number') return String(raw);
  return typeof raw === 'string' && raw !== '' ? raw : undefined;
}

/** A number that names something, kept as the text it is. */
export function idOf(raw: unknown): string | undefined {
  const text = textOf(raw);
  return text && /^[0-9]{1,18}$/.test(text) ? text : undefined;
}

export function wordOf<T extends string>(raw: unknown, words: readonly T[]): T | undefined {
  return words.find((word) => word === raw);
}

/** A path inside the console, never an address of another site. */
export function innerPath(raw: unknown): string | undefined {
  const text = textOf(raw);
  return text?.startsWith('/') && !/^\/[/\\]/.test(text) ? text : undefined;
}
