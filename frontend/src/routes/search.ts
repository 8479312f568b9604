/** One value of an address: what it may be, and what it comes to. */
export type Reader<T> = {
  /** What the page is shown; undefined is the same as not given. */
  read: (raw: unknown) => T | undefined;
  /** Whether the value makes sense to the page; what does not is ignored, and said. */
  knows: (raw: unknown) => boolean;
};

export type Readers<S> = { [Name in keyof S]-?: Reader<NonNullable<S[Name]>> };

/** What stands in an address and is ignored. */
export type Ignored = {
  name: string;
  value: string;
  reason: 'name' | 'value';
};

/** Reads view state out of an address; whatever makes no sense there counts as not given. */
export function textOf(raw: unknown): string | undefined {
  // The router reads what looks like a number or a truth value as one.
  if (typeof raw === 'number' || typeof raw === 'boolean') return String(raw);
  return typeof raw === 'string' && raw !== '' ? raw : undefined;
}

export function idOf(raw: unknown): string | undefined {
  const found = textOf(raw);
  return found && /^[0-9]{1,18}$/.test(found) ? found : undefined;
}

export function wordOf<T extends string>(raw: unknown, words: readonly T[]): T | undefined {
  return words.find((one) => one === textOf(raw));
}

/** A path inside the console, never an address of another site. */
export function innerPath(raw: unknown): string | undefined {
  const found = textOf(raw);
  return found?.startsWith('/') && !/^\/[/\\]/.test(found) ? found : undefined;
}

function holdsKey(found: string): boolean {
  try {
    JSON.parse(atob(found.replace(/-/g, '+').replace(/_/g, '/')));
    return true;
  } catch {
    return false;
  }
}

function readerOf<T>(read: (raw: unknown) => T | undefined): Reader<T> {
  return { read, knows: (raw) => read(raw) !== undefined };
}

export const text = readerOf(textOf);
/** A number that names something, kept as the text it is. */
export const id = readerOf(idOf);
export const path = readerOf(innerPath);
/** The id of an operation or a report. */
export const uuid = readerOf((raw) => {
  const found = textOf(raw);
  return found && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(found) ? found : undefined;
});
/** The number of a queue: what Java holds in an int. */
export const queue = readerOf((raw) => {
  const found = idOf(raw);
  return found && Number(found) < 2 ** 31 ? found : undefined;
});
/** Where a page of a list goes on: the key at which the one before ended, as JSON in base64. */
export const cursor = readerOf((raw) => {
  const found = textOf(raw);
  return found && holdsKey(found) ? found : undefined;
});
/** A date, with or without a time. */
export const instant = readerOf((raw) => {
  const found = textOf(raw);
  return found && !Number.isNaN(Date.parse(found)) ? found : undefined;
});

/** One of a few words; the one that holds without being named stays out of the address. */
export function word<T extends string>(words: readonly T[], unnamed?: T): Reader<T> {
  return {
    read: (raw) => {
      const found = wordOf(raw, words);
      return found === unnamed ? undefined : found;
    },
    knows: (raw) => wordOf(raw, words) !== undefined,
  };
}

type SearchReader<S> = ((raw: Record<string, unknown>) => S) & { readers: Readers<S> };

/**
 * Reads a page's part of an address, and says undefined where a value is ignored: the router keeps
 * what stands in the address under a name that is left out.
 */
export function searchOf<S extends object>(readers: Readers<S>): SearchReader<S> {
  const all: Record<string, Reader<unknown>> = readers;
  const read = (raw: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(raw).flatMap(([name, value]) => {
        const reader = readerNamed(all, name);
        return reader ? [[name, reader.read(value)]] : [];
      }),
    ) as S;
  return Object.assign(read, { readers });
}

/** Names what an address holds beside what its page reads; an empty value is as good as none. */
export function ignoredOf(
  search: Record<string, unknown>,
  validators: readonly unknown[],
): Ignored[] {
  const readers = Object.assign({}, ...validators.map(readersOf)) as Record<
    string,
    Reader<unknown>
  >;
  return Object.entries(search).flatMap(([name, raw]) => {
    const reader = readerNamed(readers, name);
    if (raw === undefined || raw === '' || reader?.knows(raw)) return [];
    const value = textOf(raw) ?? JSON.stringify(raw);
    return [{ name, value, reason: reader ? 'value' : 'name' } as const];
  });
}

function readerNamed(
  readers: Record<string, Reader<unknown>>,
  name: string,
): Reader<unknown> | undefined {
  return Object.hasOwn(readers, name) ? readers[name] : undefined;
}

function readersOf(validator: unknown): Readers<object> {
  return typeof validator === 'function' && 'readers' in validator
    ? (validator.readers as Readers<object>)
    : {};
}
