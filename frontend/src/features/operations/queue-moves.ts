import { type MoveStep, moveSteps, type QueueMove } from '@/components/queue-moves';
import type { Operation } from './operation';
import type { PlanSegments } from './plan-segments';
import { type Fields, isFields } from './values';

const stepNames = new Map<unknown, MoveStep>(
  moveSteps.map((step) => [step.toLowerCase(), step] as const),
);

/** The moves of the logical queues of one topic. */
export type TopicMoves = { topicName: string; moves: readonly QueueMove[] };

/** The topic of a step: an operation on several topics names it before the step. */
export function topicOf({ name }: { name: string }, operation: Operation): string {
  const mark = name.lastIndexOf('/');
  return mark < 0 ? operation.target : name.slice(0, mark);
}

/** The topic whose logical queues are at work, if any are. */
export function topicAtWork(operation: Operation): string | undefined {
  const step = operation.steps.findLast(({ beganAt }) => beganAt !== null);
  return step && queuesNoted(step) ? topicOf(step, operation) : undefined;
}

/**
 * How far the move of each logical queue is, topic by topic, as the newest step that says so has
 * noted it. An operation that changes no logical queue has none.
 */
export function notedMoves(operation: Operation, segments: PlanSegments | null): TopicMoves[] {
  const led = {
    before: leaders(segments?.before ?? []),
    after: leaders(segments?.after ?? []),
  };
  const newest = new Map<string, Fields>();
  for (const step of operation.steps) {
    const queues = queuesNoted(step);
    if (queues) newest.set(topicOf(step, operation), queues);
  }
  const moveOf = ([id, word]: [string, unknown]): QueueMove[] => {
    const step = stepNames.get(word);
    const globalId = Number(id);
    const sourceName = led.before.get(globalId) ?? null;
    const destinationName = led.after.get(globalId) ?? null;
    return step === undefined ? [] : [{ globalId, sourceName, destinationName, step }];
  };
  return [...newest]
    .map(([topicName, queues]) => ({ topicName, moves: Object.entries(queues).flatMap(moveOf) }))
    .filter(({ moves }) => moves.length > 0);
}

/** What the journal of a step says of queues: as it left them, or as it found them. */
function queuesNoted({ before, after }: Operation['steps'][number]): Fields | undefined {
  const change = isFields(after) ? after : isFields(before) ? before.change : undefined;
  return isFields(change) && isFields(change.queues) ? change.queues : undefined;
}

function leaders(queues: PlanSegments['before']): Map<number, string | null> {
  return new Map(queues.map(({ globalId, leaderName }) => [globalId, leaderName]));
}
