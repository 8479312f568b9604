import type { Choice, Field, Value, Words } from './field';

/** A field of an order as the control plane describes it. */
export type Described = {
  type: string;
  text: string;
  isRequired?: boolean;
  /** What holds without it. */
  absence?: string;
  onlyWith?: { name: string; value: string };
  low?: number;
  high?: number | null;
  lengthMax?: number | null;
  countMax?: number;
  choices?: string[];
  parts?: Record<string, Described>;
  initial?: string | number | boolean | null;
};

/** What a form knows of a field beyond its description. */
export type Known = {
  initial?: string | number | boolean | readonly string[];
  /** What it is now, where that is one thing. */
  present?: Value;
  /** The names that there are to choose from. */
  names?: readonly string[];
  /** The few values that there are to choose from. */
  choices?: readonly Choice[];
  /** The key of the words for a choice; without one choices are shown as they are. */
  words?: (value: string) => string;
  /** How it is asked for, where its type does not say that. */
  as?: 'time' | 'lines' | 'pairs';
  /** Which answer of the form alone it belongs to; it is required there. */
  onlyWith?: { name: string; value: string };
  /** The form leaves out the other ways to order the same, so this one is required. */
  isRequired?: boolean;
};

/** Choices that are shown as they are. */
export function plainChoices(values: readonly string[]): Choice[] {
  return values.map((value) => ({ value, words: { text: value } }));
}

function listField(one: Described, known: Known, absence: Words, isRequired: boolean) {
  const { countMax = 0, lengthMax = null, low = null, high = null } = one;
  const initial = Array.isArray(known.initial) ? known.initial : [];
  const several = { isRequired, countMax, lengthMax, low, high, initial };
  const { choices, names = null } = known;
  if (choices) return { ...several, kind: 'boxes', choices } as const;
  return { ...several, kind: 'names', known: names, absence } as const;
}

function choiceField(one: Described, known: Known, absence: Words, isRequired: boolean) {
  const { words } = known;
  const listed = (one.choices ?? []).map((value) => ({
    value,
    words: words === undefined ? { text: value } : { key: words(value) },
  }));
  const first = known.initial ?? one.initial;
  return {
    kind: 'choice',
    choices: known.choices ?? listed,
    initial: typeof first === 'string' ? first : null,
    absence: isRequired || typeof one.initial === 'string' ? null : absence,
  } as const;
}

function countField(one: Described, known: Known, absence: Words, isRequired: boolean) {
  const { low, high } = one;
  const { present } = known;
  const initial = known.initial ?? one.initial;
  return {
    kind: 'count',
    low: low ?? 0,
    high: high ?? 0,
    initial: typeof initial === 'number' ? initial : null,
    absence: isRequired ? null : absence,
    present: typeof present === 'number' ? present : null,
  } as const;
}

/** Large numbers come as texts, since JavaScript has 53 bits for them. */
function firstNumber(initial: Known['initial'] | null): string {
  return typeof initial === 'number' || typeof initial === 'string' ? String(initial) : '';
}

function numberField({ low, high, initial }: Described, known: Known, isRequired: boolean) {
  const asText = (bound: number | null | undefined) => (bound == null ? null : String(bound));
  return {
    kind: 'number',
    low: asText(low),
    high: asText(high),
    initial: firstNumber(known.initial ?? initial),
    isRequired,
  } as const;
}

/** What an empty text or number means, where the order says it. */
function emptyMeaning({ absence }: Described, isRequired: boolean) {
  return isRequired || absence === undefined ? {} : { absence: { text: absence } };
}

/** The field of a form for a field of an order; `absence` says what holds where nothing else does. */
export function fieldOf(name: string, one: Described, known: Known, absence: Words): Field {
  const onlyWith = known.onlyWith ?? one.onlyWith;
  const isRequired = known.isRequired ?? (one.isRequired === true || onlyWith !== undefined);
  const common = { name, text: one.text, ...(onlyWith && { onlyWith }) };
  const without = one.absence === undefined ? absence : { text: one.absence };
  const initial = typeof known.initial === 'string' ? known.initial : '';
  const { lengthMax = null, countMax = 0 } = one;
  const { present } = known;
  switch (known.as ?? (known.choices && one.type !== 'names' ? 'choice' : one.type)) {
    case 'flag':
      return { ...common, kind: 'flag', initial: (known.initial ?? one.initial) === true };
    case 'yesNo': {
      const now = typeof present === 'boolean' ? present : null;
      return { ...common, kind: 'yesNo', initial: null, present: now };
    }
    case 'count':
      return { ...common, ...countField(one, known, without, isRequired) };
    case 'number':
      return {
        ...common,
        ...numberField(one, known, isRequired),
        ...emptyMeaning(one, isRequired),
      };
    case 'choice':
      return { ...common, ...choiceField(one, known, without, isRequired) };
    case 'names':
      return { ...common, ...listField(one, known, without, isRequired) };
    case 'name':
      return { ...common, kind: 'name', lengthMax: lengthMax ?? 0, initial, isRequired };
    case 'pairs':
      return { ...common, kind: 'pairs', initial: '', countMax };
    case 'lines':
      return { ...common, kind: 'lines', initial: '', isRequired };
    case 'time':
      return { ...common, kind: 'time', initial: '', isRequired };
    default:
      return {
        ...common,
        kind: 'text',
        lengthMax,
        initial,
        isRequired,
        ...emptyMeaning(one, isRequired),
      };
  }
}
