import type {
  AuditEntryFieldsFragment,
  OperationFieldsFragment,
  OperationSummaryFragment,
  StepFieldsFragment,
} from '@/gql/operations';
import type { Answers } from './control-plane';

export const operationId = '7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10';

function inMs(offset: number): string {
  return new Date(Date.now() + offset).toISOString();
}

export function aStep(change: Partial<StepFieldsFragment> = {}): StepFieldsFragment {
  return {
    position: 0,
    name: 'elect',
    title: 'Elect broker 2',
    state: 'PENDING',
    attemptCount: 0,
    before: null,
    after: null,
    error: null,
    beganAt: null,
    endedAt: null,
    ...change,
  };
}

type PlanChange = Partial<OperationFieldsFragment['plan']>;

export function aPlan(change: PlanChange = {}): OperationFieldsFragment['plan'] {
  return {
    summary: 'Broker 2 becomes master of broker-a',
    risk: 'SERVICE',
    riskLabel: 'affects service, reversible',
    gate: { needsName: true, needsLossAccepted: false, holdMs: 0 },
    preconditions: [{ name: 'master epoch', value: '17' }],
    changes: [{ what: 'master', before: '1', after: '2' }],
    impact: ['Sends wait until broker 2 serves'],
    checks: [{ name: 'a replica can win', verdict: 'PASS', why: 'broker 2 may', stockCode: null }],
    wayBack: 'Elect the current master again',
    loss: null,
    facts: { winner_id: 2, candidates: [{ broker_id: 2, verdict: 'wins' }] },
    ...change,
  };
}

/** A plan of an election that waits to be confirmed. */
export function anOperation(
  change: Partial<OperationFieldsFragment> = {},
): OperationFieldsFragment {
  return {
    id: operationId,
    kind: 'elect_master',
    clusterName: 'regent',
    target: 'broker-a',
    state: 'PLANNED',
    wish: null,
    plan: aPlan(),
    steps: [aStep(), aStep({ position: 1, name: 'follow', title: 'Wait until all follow' })],
    readBack: [],
    outcome: null,
    requestedBy: 'anna',
    reason: null,
    confirmedBy: null,
    reviewedBy: null,
    reviewReason: null,
    plannedAt: inMs(-5_000),
    expiresAt: inMs(595_000),
    confirmedAt: null,
    notBefore: null,
    endedAt: null,
    undoes: null,
    actions: ['CONFIRM', 'CANCEL', 'REPLAN'],
    whyNotUndo: null,
    parameters: { cluster_name: 'regent', broker_group_name: 'broker-a' },
    ...change,
  };
}

/** The same at its first step. */
export function aRunningOperation(
  change: Partial<OperationFieldsFragment> = {},
): OperationFieldsFragment {
  return anOperation({
    state: 'RUNNING',
    confirmedBy: 'anna',
    confirmedAt: inMs(-2_000),
    reason: 'planned work',
    steps: [
      aStep({
        state: 'RUNNING',
        attemptCount: 1,
        before: { master_id: 1, master_epoch: 17 },
        beganAt: inMs(-1_000),
      }),
      aStep({ position: 1, name: 'follow', title: 'Wait until all follow' }),
    ],
    actions: ['PAUSE', 'CANCEL'],
    ...change,
  });
}

export function summaryOf(operation: OperationFieldsFragment): OperationSummaryFragment {
  const { plan, steps, parameters: _, ...rest } = operation;
  return {
    ...rest,
    plan: { summary: plan.summary, risk: plan.risk },
    steps: steps.map(({ position, state }) => ({ position, state })),
  };
}

export function operationPage(
  operations: OperationFieldsFragment[],
  endCursor: string | null = null,
  totalCount = operations.length,
) {
  return {
    operations: {
      totalCount,
      pageInfo: { hasNextPage: endCursor !== null, endCursor },
      nodes: operations.map(summaryOf),
    },
  };
}

export function anEntry(change: Partial<AuditEntryFieldsFragment> = {}): AuditEntryFieldsFragment {
  return {
    number: '7',
    happenedAt: '2026-03-01T12:00:00Z',
    actor: 'anna',
    source: 'graphql 10.0.0.9',
    action: 'operation.queued',
    clusterName: 'regent',
    subject: 'elect_master broker-a',
    operationId,
    details: { reason: 'planned work' },
    ...change,
  };
}

export function auditPage(
  entries: AuditEntryFieldsFragment[],
  endCursor: string | null = null,
  totalCount = entries.length,
) {
  return {
    auditEntries: {
      totalCount,
      pageInfo: { hasNextPage: endCursor !== null, endCursor },
      nodes: entries,
    },
  };
}

/** One plan that nothing speaks against, and an audit without a later change. */
export function operationAnswers(): Answers {
  return {
    Operations: () => operationPage([anOperation()]),
    OperationKinds: () => ({ operationKinds: ['elect_master', 'forget_replicas'] }),
    Operation: () => ({ operation: anOperation() }),
    OperationFacts: () => ({ operation: { id: operationId, movedFact: null } }),
    AdoptionCandidates: () => ({ adoptionCandidates: { totalCount: 0, nodes: [] } }),
    AuditEntries: () => auditPage([anEntry()]),
    AuditVerification: () => ({
      auditVerification: {
        checkedCount: 7,
        isComplete: true,
        endNumber: '7',
        endHash: 'ab12',
        brokenNumber: null,
        reason: null,
      },
    }),
  };
}
