import type { Heard } from '@/lib/live/heeds';
import type { Operation } from './operation';

type Planned = Pick<Operation, 'id' | 'target' | 'clusterName' | 'parameters' | 'plan'>;

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** What an operation is done to: whatever its target, its order or the facts of its plan name. */
function subjectsOf({ target, parameters, plan }: Planned): Set<string> {
  const reported = plan.preconditions.flatMap(({ name, value }) =>
    `${name} ${value}`.split(/[\s,]+/),
  );
  return new Set([target, ...textsIn(parameters), ...textsIn(plan.facts), ...reported]);
}

const harmless = new Set(['operation.planned', 'operation.queued', 'operation.lapsed']);

/** Whether an event may have moved a fact of a plan, so that planning again may find it. */
export function mayMove(operation: Planned, heard: Heard): boolean {
  if (heard.operationId === operation.id || harmless.has(heard.kind)) return false;
  const subjects = subjectsOf(operation);
  // The subject of a topic event is the group that holds the topics; its details name the topics.
  const topics = heard.kind.startsWith('topic.') ? textsIn(heard.details) : [];
  const group = heard.brokerGroupName === null ? [] : [heard.brokerGroupName];
  return [heard.subject, ...group, ...topics].some((one) => subjects.has(one));
}
