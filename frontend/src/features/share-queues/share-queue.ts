import type { StateTone } from '@/components/state-mark';
import type {
  ShareIncidentFieldsFragment,
  ShareMessageFieldsFragment,
  ShareQueueFieldsFragment,
} from '@/gql/operations';

export type ShareQueue = ShareQueueFieldsFragment;
export type ShareMessage = ShareMessageFieldsFragment;
export type ShareIncident = ShareIncidentFieldsFragment;

/** What identifies a share queue in a cluster. */
export type ShareQueueName = {
  brokerGroupName: string;
  topic: string;
  queueId: number;
  consumerGroupName: string;
};

export function shareQueueId(queue: ShareQueueName): string {
  const { brokerGroupName, topic, queueId, consumerGroupName } = queue;
  return [consumerGroupName, topic, brokerGroupName, queueId].join(' ');
}

/** The word for how a message stands, and its tone; a message without a holder waits. */
export function holderOf({ holder }: ShareMessage): { word: string; tone: StateTone } {
  if (holder === null) return { word: 'shareQueues.waits', tone: 'idle' };
  return { word: `lockHolder.${holder}`, tone: holder === 'GONE' ? 'bad' : 'good' };
}

/** The word for how a share queue stands, and its tone. */
export function stateOf(queue: ShareQueue): { word: string; tone: StateTone } {
  if (queue.isFull) return { word: 'shareQueues.full', tone: 'bad' };
  if (queue.acquiredCount > 0) return { word: 'shareQueues.busy', tone: 'good' };
  const word = queue.unfinishedCount === '0' ? 'shareQueues.empty' : 'shareQueues.unread';
  return { word, tone: 'idle' };
}

/** What an incident is about: a record of the lane, a topic, or a share queue. */
export function subjectOf(incident: ShareIncident): { word: string; values: object } {
  const { topic, queueId, consumerGroupName: group, position } = incident;
  if (topic === null) return { word: 'shareIncidents.record', values: { position } };
  if (queueId === null) return { word: 'shareIncidents.topic', values: { topic } };
  return { word: 'shareIncidents.queue', values: { queue: `${topic}/${queueId}`, group } };
}
