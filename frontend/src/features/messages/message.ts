import type { StateTone } from '@/components/state-mark';
import type { DeadLettersQuery, MessageFieldsFragment, MessageQuery } from '@/gql/operations';

export type MessageRow = MessageFieldsFragment;
export type MessageDetail = NonNullable<MessageQuery['message']>;
export type DeadLetter = DeadLettersQuery['messages']['nodes'][number];
export type Delivery = MessageDetail['deliveries']['nodes'][number];

/** The topic that a dead letter was in before it failed. */
export function originOf({ properties }: DeadLetter): string {
  return properties.find(({ name }) => name === 'RETRY_TOPIC')?.value ?? '';
}

/** The ways to look for messages, in the order in which the form offers them. */
export const searchWays = ['time', 'key', 'unique', 'id', 'follow'] as const;
export type SearchWay = (typeof searchWays)[number];

export const deliveryTones: Record<Delivery['state'], StateTone> = {
  CONSUMED: 'good',
  PENDING: 'idle',
  RETRYING: 'warn',
  DEAD_LETTER: 'bad',
  UNKNOWN: 'unknown',
};

/** An instant for the server from what a field for local time holds; nothing of no time. */
export function instantOf(local: string | undefined): string | null {
  const atMs = local ? Date.parse(local) : Number.NaN;
  return Number.isNaN(atMs) ? null : new Date(atMs).toISOString();
}

const shownMax = 200;

/** The messages so far and the new messages, the newest first; the oldest are dropped. */
export function followed(known: MessageRow[], come: MessageRow[]): MessageRow[] {
  return [...come.toReversed(), ...known].slice(0, shownMax);
}
