import type { DeadLetter, MessageDetail, MessageRow } from '@/features/messages/message';
import type { DeadLettersQuery, MessageBodyQuery, MessagesQuery } from '@/gql/operations';

/** Valid by default; a test states only what it is about. */
export function aMessage(change: Partial<MessageRow> = {}): MessageRow {
  return {
    messageId: '7F00000100002A9F0000000000000000',
    uniqueKey: 'U-1',
    topic: 'orders',
    brokerGroupName: 'broker-a',
    queueId: 2,
    queueOffset: '41000',
    storedAt: '2026-11-22T10:00:00Z',
    bodyBytes: 12,
    keys: ['4711'],
    tags: 'red',
    ...change,
  };
}

export function aMessageDetail(change: Partial<MessageDetail> = {}): MessageDetail {
  return {
    message: {
      ...aMessage(),
      logPosition: '4096',
      storeHost: '127.0.0.1:10911',
      bornAt: '2026-11-22T09:59:59Z',
      bornHost: '10.0.0.5:50000',
      reconsumeTimes: 0,
      sizeBytes: 220,
      properties: [{ name: 'KEYS', value: '4711' }],
    },
    deliveries: {
      consumerGroupCount: 1,
      nodes: [{ consumerGroupName: 'billing', state: 'RETRYING', why: 'it failed 2 times' }],
      unknown: [],
    },
    ...change,
  };
}

export function messagePage(
  nodes: MessageRow[],
  endCursor = 'ImsxIg',
  hasNextPage = false,
): MessagesQuery {
  return {
    messages: {
      nodes,
      unknown: [],
      observedAt: '2026-11-22T10:00:00Z',
      pageInfo: { hasNextPage, endCursor },
    },
  };
}

export function aBody(
  change: Partial<NonNullable<MessageBodyQuery['messageBody']>> = {},
): MessageBodyQuery {
  return {
    messageBody: {
      form: 'JSON',
      content: '{ "amount": 3 }',
      isCut: false,
      storedBytes: 12,
      sizeBytes: 12,
      shownBytes: 12,
      compression: null,
      note: null,
      ...change,
    },
  };
}

export function aDeadLetter(change: Partial<DeadLetter> = {}): DeadLetter {
  return {
    messageId: '7F00000100002A9F0000000000000000',
    storedAt: '2026-11-22T10:00:00Z',
    brokerGroupName: 'broker-a',
    queueOffset: '0',
    keys: ['4711'],
    reconsumeTimes: 16,
    properties: [{ name: 'RETRY_TOPIC', value: 'orders' }],
    ...change,
  };
}

export function deadLetterPage(nodes: DeadLetter[], hasNextPage = false): DeadLettersQuery {
  return { messages: { nodes, unknown: [], pageInfo: { hasNextPage } } };
}
