import { ApiError } from '@/lib/api-error';

/** What one field of an order may be given; what is null is left as it is, or to the control plane. */
export type Field = { name: string } & (
  | { kind: 'name'; lengthMax: number; initial?: string }
  /** Without an initial one it stays as it is, which is `present` where that is one and known. */
  | { kind: 'count'; low: number; high: number; initial: number | null; present?: number | null }
  /** All 64 bits of a number, kept as the text it is. */
  | {
      kind: 'number';
      low: string | null;
      high: string | null;
      initial: string;
      isOptional: boolean;
    }
  | { kind: 'flag'; initial: boolean }
  | { kind: 'yesNo'; present: boolean | null }
  /** `none` is the key of the words for no choice, where that is one. */
  | { kind: 'choice'; choices: readonly Choice[]; initial: string | null; none: string | null }
  | { kind: 'time' }
  | { kind: 'text'; initial: string }
  | { kind: 'lines'; initial: string; isRequired: boolean }
  /** Lines of a name, an equals sign and a value. */
  | { kind: 'pairs'; initial: string }
  /** Some of what is known, or whatever is typed where nothing is. */
  | { kind: 'names'; known: readonly string[] | null; countMax?: number }
);

export type Choice = { value: string; word: string | null };
export type Value = string | number | boolean | string[] | null;
export type Values = Readonly<Record<string, Value>>;
/** What is wrong with a value: a key of the words for it, and what they name. */
export type Problem = { word: string; values: Record<string, string | number> };

export function initialValue(field: Field): Value {
  switch (field.kind) {
    case 'name':
      return field.initial ?? '';
    case 'yesNo':
      return null;
    case 'names':
      return [];
    case 'time':
      return '';
    default:
      return field.initial;
  }
}

export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map((field) => [field.name, initialValue(field)]));
}

const empty: Problem = { word: 'empty', values: {} };
const foreign = /[^%|a-zA-Z0-9_-]/u;

function problemOfName(text: string, lengthMax: number): Problem | undefined {
  if (text === '') return empty;
  const found = foreign.exec(text);
  if (found && /\s/.test(found[0])) return { word: 'blank', values: {} };
  if (found) return { word: 'character', values: { character: found[0] } };
  return text.length > lengthMax ? { word: 'long', values: { max: lengthMax } } : undefined;
}

function problemOfNumber(
  text: string,
  { low, high, isOptional }: { low: string | null; high: string | null; isOptional: boolean },
): Problem | undefined {
  if (text === '') return isOptional ? undefined : empty;
  if (!/^-?\d{1,18}$/.test(text)) return { word: 'noNumber', values: {} };
  const number = BigInt(text);
  const isLow = low !== null && number < BigInt(low);
  const isHigh = high !== null && number > BigInt(high);
  if (!isLow && !isHigh) return undefined;
  return { word: 'range', values: { low: low ?? '', high: high ?? '' } };
}

function problemOfCount(
  value: Value,
  { low, high, initial }: { low: number; high: number; initial: number | null },
): Problem | undefined {
  if (value === null || value === '') return initial === null ? undefined : empty;
  const isWithin =
    typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high;
  return isWithin ? undefined : { word: 'range', values: { low, high } };
}

function problemOfTime(text: string): Problem | undefined {
  if (text === '') return empty;
  return Number.isNaN(Date.parse(text)) ? { word: 'noTime', values: {} } : undefined;
}

function problemOfPairs(text: string): Problem | undefined {
  const wrong = linesOf(text).find((line) => !/^[^=]+=./.test(line));
  return wrong === undefined ? undefined : { word: 'noPair', values: { line: wrong } };
}

function problemOfNames(value: Value, max = Number.POSITIVE_INFINITY): Problem | undefined {
  const isTooMany = Array.isArray(value) && value.length > max;
  return isTooMany ? { word: 'tooMany', values: { max } } : undefined;
}

/** What is wrong with a value before the control plane is asked, which checks it once more. */
export function problemOf(field: Field, value: Value): Problem | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  switch (field.kind) {
    case 'name':
      return problemOfName(text, field.lengthMax);
    case 'count':
      return problemOfCount(value, field);
    case 'number':
      return problemOfNumber(text, field);
    case 'choice':
      return value === null && field.none === null ? empty : undefined;
    case 'time':
      return problemOfTime(text);
    case 'names':
      return problemOfNames(value, field.countMax);
    case 'lines':
      return field.isRequired && value === '' ? empty : undefined;
    case 'pairs':
      return problemOfPairs(text);
    default:
      return undefined;
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
  return Array.isArray(value) ? value : [];
}
