import type { Known } from './described-field';
import type { Value } from './field';
import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';
import { commonOf } from './topic-orders';

type GroupOrder = 'createConsumerGroup' | 'changeConsumerGroup' | 'deleteConsumerGroup';

function orderOf(
  order: GroupOrder,
  word: string,
  clusterName: string,
  consumerGroupName: string,
  known: Readonly<Record<string, Known>>,
): OrderKind {
  return orderForm(order, {
    word,
    target: consumerGroupName || clusterName,
    given: { clusterName, ...(consumerGroupName && { consumerGroupName }) },
    known,
  });
}

export function createGroup(clusterName: string, groups: readonly string[]): OrderKind {
  const known = { brokerGroups: { names: groups } };
  return orderOf('createConsumerGroup', 'createGroup', clusterName, '', known);
}

/** What a consumer group is set to on one broker group. */
export type ServedGroup = Readonly<Record<string, Value>>;

/** Of a group that is named, `settings` say what it is set to now, where that is one thing. */
export function changeGroup(
  clusterName: string,
  groups: readonly string[],
  consumerGroupName = '',
  settings: readonly ServedGroup[] = [],
): OrderKind {
  const names = Object.keys(settings[0] ?? {}).filter((name) => name !== 'brokerGroupName');
  const present = names.map((name) => {
    const common = commonOf(settings.map((one) => one[name] ?? null));
    return [name, { present: common }] as const;
  });
  const known = { brokerGroups: { names: groups }, ...Object.fromEntries(present) };
  return orderOf('changeConsumerGroup', 'changeGroup', clusterName, consumerGroupName, known);
}

export function deleteGroup(
  clusterName: string,
  groups: readonly string[],
  consumerGroupName = '',
): OrderKind {
  const known = { brokerGroups: { names: groups } };
  return orderOf('deleteConsumerGroup', 'deleteGroup', clusterName, consumerGroupName, known);
}
