import type { OperationFactsQuery } from '@/gql/operations';
import {
  findBlock,
  holdLeftMs,
  isExpired,
  isUnchanged,
  type Operation,
  type Steering,
} from './operation';

export type MovedFact = NonNullable<OperationFactsQuery['operation']['movedFact']>;

/** What comparing a plan's facts with those of now came to; not compared is not unmoved (D21). */
export type FactsNow = { moved: MovedFact | null; whyUnknown?: string | undefined };

/** What a reader has to know first about where an operation stands, and what to do about it. */
export type Standing = {
  word:
    | 'moved'
    | 'gone'
    | 'expired'
    | 'blocked'
    | 'unchecked'
    | 'awaiting'
    | 'held'
    | 'paused'
    | 'done'
    | 'partly'
    | 'failed'
    | 'unknown'
    | 'cancelled'
    | 'lapsed'
    | 'undone';
  tone: 'info' | 'good' | 'warn' | 'bad' | 'unknown';
  values: Record<string, string | number>;
  /** What is best done next. */
  offer?: Steering;
};

function planStanding(
  operation: Operation,
  { moved, whyUnknown }: FactsNow,
  nowMs: number,
): Standing | undefined {
  if (isExpired(operation, nowMs)) {
    return { word: 'expired', tone: 'warn', values: {}, offer: 'REPLAN' };
  }
  if (moved !== null) {
    const { name, expected, found } = moved;
    const word = found === null ? 'gone' : 'moved';
    return { word, tone: 'warn', values: { name, expected, found: found ?? '' }, offer: 'REPLAN' };
  }
  const block = findBlock(operation);
  if (block) {
    return { word: 'blocked', tone: 'bad', values: { why: block.why }, offer: 'REPLAN' };
  }
  if (whyUnknown !== undefined) {
    return { word: 'unchecked', tone: 'unknown', values: { why: whyUnknown } };
  }
  return undefined;
}

/** Whether a plan can no longer be carried out, whatever is typed beneath it. */
export function isVoid(operation: Operation, { moved }: FactsNow, nowMs: number): boolean {
  if (operation.state === 'LAPSED') return true;
  return isUnchanged(operation.state) && (moved !== null || isExpired(operation, nowMs));
}

/** How to go on with what is left; where a second person must agree it is planned again. */
function wayOn(operation: Operation): Steering {
  return operation.actions.includes('RETRY') ? 'RETRY' : 'REPLAN';
}

/** Sums up where an operation stands; nothing where its state and its steps say all. */
export function standingOf(
  operation: Operation,
  facts: FactsNow,
  nowMs: number,
): Standing | undefined {
  const values = { outcome: operation.outcome ?? '' };
  switch (operation.state) {
    case 'PLANNED':
      return planStanding(operation, facts, nowMs);
    case 'AWAITING_APPROVAL': {
      const name = operation.confirmedBy ?? '';
      const awaiting: Standing = { word: 'awaiting', tone: 'warn', values: { name } };
      const voided = planStanding(operation, facts, nowMs);
      // A plan about to lapse can't be planned again before it has lapsed: the approver sees that.
      return voided === undefined ? awaiting : { ...voided, offer: 'CANCEL' };
    }
    case 'QUEUED': {
      const left = holdLeftMs(operation, nowMs);
      if (left === 0) return undefined;
      const seconds = Math.ceil(left / 1000);
      return { word: 'held', tone: 'warn', values: { seconds }, offer: 'CANCEL' };
    }
    case 'RUNNING':
      return undefined;
    case 'PAUSED':
      return { word: 'paused', tone: 'warn', values, offer: 'RESUME' };
    case 'DONE':
      return { word: 'done', tone: 'good', values };
    case 'PARTLY':
      return { word: 'partly', tone: 'warn', values, offer: wayOn(operation) };
    case 'FAILED':
      return { word: 'failed', tone: 'bad', values, offer: 'REPLAN' };
    case 'UNKNOWN':
      return { word: 'unknown', tone: 'unknown', values, offer: wayOn(operation) };
    case 'CANCELLED':
      return { word: 'cancelled', tone: 'info', values };
    case 'LAPSED':
      return { word: 'lapsed', tone: 'warn', values, offer: 'REPLAN' };
    case 'UNDONE':
      return { word: 'undone', tone: 'info', values };
  }
}
