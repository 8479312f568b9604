import { ApiError } from '@/lib/api-error';

/** Words by their key, or a text of the control plane as it stands. */
export type Words = { key: string; values?: Record<string, string> } | { text: string };
export type Choice = { value: string; words: Words };

/** What one field of an order may be given; what is null is left as it is, or to the control plane. */
export type Field = {
  name: string;
  /** What it means, as the order describes it. */
  text?: string;
  /** It is asked for only while another field has this value. */
  onlyWith?: { name: string; value: string };
} & (
  | { kind: 'name'; lengthMax: number; initial: string; isRequired: boolean }
  | {
      kind: 'text';
      lengthMax: number | null;
      initial: string;
      isRequired: boolean;
      /** What an empty one means, where the order says it. */
      absence?: Words;
    }
  | { kind: 'lines'; initial: string; isRequired: boolean }
  /** Lines of a name, an equals sign and a value. */
  | { kind: 'pairs'; initial: string; countMax: number }
  /** Without an initial one it is absent, which is `present` where that is one and known. */
  | {
      kind: 'count';
      low: number;
      high: number;
      initial: number | null;
      /** Null where a number is required. */
      absence: Words | null;
      present: number | null;
    }
  /** All 64 bits of a number, kept as the text it is. */
  | {
      kind: 'number';
      low: string | null;
      high: string | null;
      initial: string;
      isRequired: boolean;
      /** As of a text. */
      absence?: Words;
    }
  /** A number of milliseconds that is asked for as a date and a time of day. */
  | { kind: 'time'; initial: string; isRequired: boolean }
  | { kind: 'flag'; initial: boolean }
  | { kind: 'yesNo'; initial: null; present: boolean | null }
  /** `absence` is what no choice means, where that is allowed. */
  | { kind: 'choice'; choices: readonly Choice[]; initial: string | null; absence: Words | null }
  /** Some of what is known, or whatever is typed where nothing is. */
  | (Several & { kind: 'names'; known: readonly string[] | null; absence: Words })
  /** Some of a few, each with a box. */
  | (Several & { kind: 'boxes'; choices: readonly Choice[] })
);

/** How many values a list may have, and what each may be: so long, or a number between bounds. */
type Several = {
  initial: readonly string[];
  isRequired: boolean;
  countMax: number;
  lengthMax: number | null;
  low: number | null;
  high: number | null;
};

export type Value = string | number | boolean | readonly string[] | null;
export type Values = Readonly<Record<string, Value>>;
/** What is wrong with a value: a key of the words for it, and what they name. */
export type Problem = { word: string; values: Record<string, string | number> };

export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map((field) => [field.name, field.initial]));
}

const empty: Problem = { word: 'empty', values: {} };
const foreign = /[^%|a-zA-Z0-9_-]/u;

function problemOfText(text: string, lengthMax: number | null): Problem | undefined {
  const isLong = lengthMax !== null && text.length > lengthMax;
  return isLong ? { word: 'long', values: { max: lengthMax } } : undefined;
}

function problemOfName(text: string, lengthMax: number): Problem | undefined {
  const found = foreign.exec(text);
  if (found && /\s/.test(found[0])) return { word: 'blank', values: {} };
  if (found) return { word: 'character', values: { character: found[0] } };
  return problemOfText(text, lengthMax);
}

type Range = { low: string | number | null; high: string | number | null };

function problemOfNumber(text: string, { low, high }: Range): Problem | undefined {
  if (!/^-?\d{1,18}$/.test(text)) return { word: 'noNumber', values: {} };
  const number = BigInt(text);
  const isLow = low !== null && number < BigInt(low);
  const isHigh = high !== null && number > BigInt(high);
  if (!isLow && !isHigh) return undefined;
  return { word: 'range', values: { low: low ?? '', high: high ?? '' } };
}

function problemOfCount(
  value: Value,
  { low, high, initial, absence }: Extract<Field, { kind: 'count' }>,
): Problem | undefined {
  if (value === null || value === '') {
    return initial === null && absence !== null ? undefined : empty;
  }
  const isWithin =
    typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high;
  return isWithin ? undefined : { word: 'range', values: { low, high } };
}

function problemOfTime(text: string): Problem | undefined {
  return Number.isNaN(Date.parse(text)) ? { word: 'noTime', values: {} } : undefined;
}

function problemOfPairs(text: string, countMax: number): Problem | undefined {
  const lines = linesOf(text);
  if (lines.length > countMax) return { word: 'tooMany', values: { max: countMax } };
  const wrong = lines.find((line) => !/^[^=]+=./.test(line));
  return wrong === undefined ? undefined : { word: 'noPair', values: { line: wrong } };
}

function problemOfSeveral(
  list: readonly string[],
  { isRequired, countMax, lengthMax, low, high }: Several,
): Problem | undefined {
  if (list.length === 0 && isRequired) return { word: 'noneChosen', values: {} };
  if (list.length > countMax) return { word: 'tooMany', values: { max: countMax } };
  const judge = (text: string) =>
    low === null ? problemOfText(text, lengthMax) : problemOfNumber(text, { low, high });
  return list.map(judge).find((one) => one);
}

function problemOfTyped(field: Field, text: string): Problem | undefined {
  if (text === '') return 'isRequired' in field && field.isRequired ? empty : undefined;
  switch (field.kind) {
    case 'name':
      return problemOfName(text, field.lengthMax);
    case 'text':
      return problemOfText(text, field.lengthMax);
    case 'number':
      return problemOfNumber(text, field);
    case 'time':
      return problemOfTime(text);
    case 'pairs':
      return problemOfPairs(text, field.countMax);
    default:
      return undefined;
  }
}

/** What is wrong with a value before the control plane is asked, which checks it once more. */
export function problemOf(field: Field, value: Value): Problem | undefined {
  switch (field.kind) {
    case 'count':
      return problemOfCount(value, field);
    case 'choice':
      return value === null && field.absence === null ? empty : undefined;
    case 'names':
    case 'boxes':
      return problemOfSeveral(Array.isArray(value) ? value : [], field);
    case 'lines':
      // Blanks are part of what is written there.
      return problemOfTyped(field, typeof value === 'string' ? value : '');
    default:
      return problemOfTyped(field, typeof value === 'string' ? value.trim() : '');
  }
}

export type Problems = Partial<Record<string, Problem>>;

export function problemsOf(fields: readonly Field[], values: Values): Problems {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const problem = problemOf(field, values[field.name] ?? null);
      return problem ? [[field.name, problem]] : [];
    }),
  );
}

/** The field that a refusal of the control plane names: as its parameter, or its path in the order. */
export function fieldNamed(refusal: Error): string | undefined {
  const parameter = refusal instanceof ApiError ? refusal.facts.parameter : undefined;
  const name = typeof parameter === 'string' ? parameter : /`\$\.(\w+)/.exec(refusal.message)?.[1];
  return name?.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The fields that are asked for, given what is filled in so far. */
export function shownOf(fields: readonly Field[], values: Values): Field[] {
  const isShown = ({ onlyWith }: Field) => {
    if (onlyWith === undefined) return true;
    const other = fields.find(({ name }) => name === onlyWith.name);
    return (values[onlyWith.name] ?? other?.initial) === onlyWith.value;
  };
  return fields.filter(isShown);
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

export function textIn(values: Values, name: string): string {
  const value = values[name];
  return typeof value === 'string' ? value.trim() : '';
}

export function countIn(values: Values, name: string): number | null {
  const value = values[name];
  return typeof value === 'number' ? value : null;
}

export function flagIn(values: Values, name: string): boolean | null {
  const value = values[name];
  return typeof value === 'boolean' ? value : null;
}

export function namesIn(values: Values, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? [...value] : [];
}
