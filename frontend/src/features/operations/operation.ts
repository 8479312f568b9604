import type { StateTone } from '@/components/state-mark';
import type {
  Agreement,
  CheckVerdict,
  OperationAction,
  OperationFieldsFragment,
  OperationState,
  OperationSummaryFragment,
  StepFieldsFragment,
  StepState,
} from '@/gql/operations';

export type Operation = OperationFieldsFragment;
export type OperationSummary = OperationSummaryFragment;
export type Step = StepFieldsFragment;
export type Gate = Operation['plan']['gate'];

/** What a button does; a plan is confirmed, approved and declined by its forms. */
export type Steering = Exclude<OperationAction, 'CONFIRM' | 'APPROVE' | 'DECLINE'>;

const formActions: ReadonlySet<OperationAction> = new Set(['CONFIRM', 'APPROVE', 'DECLINE']);

export function isSteering(action: OperationAction): action is Steering {
  return !formActions.has(action);
}

/** A plan that no worker has heard of, confirmed or not: its facts are compared again. */
export function isUnchanged(state: OperationState | undefined): boolean {
  return state === 'PLANNED' || state === 'AWAITING_APPROVAL';
}

export const operationStates: readonly OperationState[] = [
  'PLANNED',
  'AWAITING_APPROVAL',
  'QUEUED',
  'RUNNING',
  'PAUSED',
  'DONE',
  'PARTLY',
  'FAILED',
  'UNKNOWN',
  'CANCELLED',
  'LAPSED',
  'UNDONE',
];

export const stateTones: Record<OperationState, StateTone> = {
  PLANNED: 'idle',
  AWAITING_APPROVAL: 'warn',
  QUEUED: 'busy',
  RUNNING: 'busy',
  PAUSED: 'warn',
  DONE: 'good',
  PARTLY: 'warn',
  FAILED: 'bad',
  UNKNOWN: 'unknown',
  CANCELLED: 'idle',
  LAPSED: 'idle',
  UNDONE: 'idle',
};

const stepTones: Record<string, StateTone> = {
  PENDING: 'idle',
  RUNNING: 'busy',
  WAITING: 'busy',
  DONE: 'good',
  FAILED: 'bad',
} satisfies Partial<Record<StepState | 'WAITING', StateTone>>;

/** A state that this console does not know yet is none to be called good. */
export function stepTone(state: string): StateTone {
  return stepTones[state] ?? 'unknown';
}

export const checkTones: Record<CheckVerdict, StateTone> = {
  PASS: 'good',
  WARN: 'warn',
  BLOCK: 'bad',
};

export const agreementTones: Record<Agreement, StateTone> = {
  AGREES: 'good',
  DIFFERS: 'bad',
  UNKNOWN: 'unknown',
};

const moving: ReadonlySet<OperationState> = new Set(['QUEUED', 'RUNNING']);

export function isMoving(state: OperationState | undefined): boolean {
  return state === undefined || moving.has(state);
}

/** How often to ask while no stream reports: a step takes a moment, an end hardly ever changes. */
export function pollIntervalMs(state: OperationState | undefined): number {
  return isMoving(state) ? 1_000 : 5_000;
}

/** The age from which on an answer may be out of date. */
export function staleLimitMs(state: OperationState | undefined): number {
  return 3 * pollIntervalMs(state) + 1_000;
}

export function findBlock(operation: Operation) {
  return operation.plan.checks.find(({ verdict }) => verdict === 'BLOCK');
}

export function doneCount(steps: { state: StepState }[]): number {
  return steps.filter(({ state }) => state === 'DONE').length;
}

/** For how long a confirmed operation still waits before its first step; 0 when it does not. */
export function holdLeftMs(operation: Operation, nowMs: number): number {
  const isUntouched = operation.steps.every(({ beganAt }) => beganAt === null);
  if (operation.state !== 'QUEUED' || operation.notBefore === null || !isUntouched) return 0;
  // The second that ticks on the page may be a little behind the control plane's.
  const leftMs = Math.min(operation.plan.gate.holdMs, Date.parse(operation.notBefore) - nowMs);
  return Math.max(0, leftMs);
}

export function isExpired(operation: Operation, nowMs: number): boolean {
  return isUnchanged(operation.state) && Date.parse(operation.expiresAt) <= nowMs;
}

export type Given = { typedName: string; reason: string; acceptsLoss: boolean };
export type Missing = 'name' | 'reason' | 'loss';

/** What the gate of a plan still asks for; the control plane asks for the same once more. */
export function missingFor(gate: Gate, target: string, given: Given): Missing[] {
  const missing: Missing[] = [];
  if (gate.needsName && given.typedName !== target) missing.push('name');
  if (gate.needsName && given.reason.trim() === '') missing.push('reason');
  if (gate.needsLossAccepted && !given.acceptsLoss) missing.push('loss');
  return missing;
}
