import type { GroupChangeFieldsFragment } from '@/gql/operations';

export type GroupChange = GroupChangeFieldsFragment;

/** What one change did: a word of the English file and what it is filled with. */
export type ChangeWords = { word: string; values: Record<string, string | number> };

const operationCause = /^operation ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//;

/** The id of the operation that a cause names, if it names one. */
export function operationIn(cause: string): string | undefined {
  return operationCause.exec(cause)?.[1];
}

function addressesOf(change: GroupChange): Map<string, string> {
  return new Map(change.replicaAddresses.map(({ brokerId, address }) => [brokerId, address]));
}

function without(left: Iterable<string>, right: Iterable<string>): string[] {
  const gone = new Set(right);
  return [...left].filter((item) => !gone.has(item));
}

function listed(ids: string[]): string {
  return ids.join(', ');
}

/**
 * Says what a change did by comparing the group after it with the group after the one before,
 * which is absent where history begins.
 */
export function changeWords(change: GroupChange, before: GroupChange | undefined): ChangeWords {
  const now = addressesOf(change);
  const then = before ? addressesOf(before) : new Map<string, string>();
  const master = change.masterId ?? '';
  switch (change.kind) {
    case 'MASTER_ELECTED':
      return masterWords(change, before);
    case 'MASTER_LOST':
      return { word: 'lost', values: { master } };
    case 'SYNC_STATE_SET_ALTERED':
      return setWords(change, before);
    case 'BROKER_ID_APPLIED':
      return replicaWords('joined', without(now.keys(), then.keys()));
    case 'REPLICAS_REMOVED':
      return replicaWords('removed', without(then.keys(), now.keys()));
    case 'REPLICAS_ADOPTED':
      return replicaWords('adopted', without(now.keys(), then.keys()));
    case 'PREFERENCE_CHANGED':
      return { word: 'preferred', values: {} };
    case 'PROTOCOL_VERSION_CHANGED':
      return { word: 'versionChanged', values: {} };
    case 'ADDRESS_CHANGED': {
      const moved = [...now].find(([id, address]) => then.has(id) && then.get(id) !== address);
      if (!moved) return { word: 'moved', values: {} };
      const [id, address] = moved;
      return { word: 'movedTo', values: { id, address, from: then.get(id) ?? '' } };
    }
    case 'GROUP_REMOVED':
      return { word: 'groupRemoved', values: {} };
  }
}

function masterWords(change: GroupChange, before: GroupChange | undefined): ChangeWords {
  const values = { master: change.masterId ?? '', epoch: change.masterEpoch };
  const previous = before?.masterId;
  if (previous === change.masterId) return { word: 'electedAgain', values };
  return previous
    ? { word: 'electedAfter', values: { ...values, previous } }
    : { word: 'elected', values };
}

function setWords(change: GroupChange, before: GroupChange | undefined): ChangeWords {
  const joined = before ? without(change.syncStateSet, before.syncStateSet) : [];
  const left = before ? without(before.syncStateSet, change.syncStateSet) : [];
  const values = { joined: listed(joined), left: listed(left), set: listed(change.syncStateSet) };
  if (joined.length > 0 && left.length > 0) return { word: 'setBoth', values };
  if (joined.length > 0) return { word: 'setJoined', values: { ...values, count: joined.length } };
  if (left.length > 0) return { word: 'setLeft', values: { ...values, count: left.length } };
  return { word: 'setIs', values };
}

function replicaWords(word: string, ids: string[]): ChangeWords {
  return { word, values: { ids: listed(ids) } };
}
