import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { resetOffsets } from '@/features/orders/offset-orders';
import type { OrderKind } from '@/features/orders/order-kind';
import {
  convertTopic,
  deleteStaticTopic,
  expandStaticTopic,
  moveQueues,
  shrinkStaticTopic,
} from '@/features/orders/static-topic-orders';
import { changeTopic, deleteTopic } from '@/features/orders/topic-orders';
import type { TopicDetail } from '@/features/topics/topic-detail';
import { logicalQueuesOf } from '@/features/topics/topic-queries';
import { OrderModal } from './order-modal';
import { PlanRefusal } from './plan-refusal';
import { ProtectionButton } from './protection-button';
import { SendModal } from './send-modal';
import type { TopicOrder } from './topic-route';
import { usePlanOrder } from './use-plan-order';
import { useTopology } from './use-topology';
import { withinPage } from './within-page';

const ordinaryWords: readonly TopicOrder[] = ['change', 'reset', 'delete', 'send', 'convert'];
const staticWords: readonly TopicOrder[] = ['move', 'expand', 'shrink', 'reset', 'delete', 'send'];

type Offered = {
  words: readonly TopicOrder[];
  forms: Partial<Record<TopicOrder, () => OrderKind>>;
};

/** What is offered for a topic: nothing until it is known whether it is a static one. */
function useOffered(topic: TopicDetail, consumerGroupName: string | undefined): Offered {
  const { clusterName, name } = topic;
  const query = useQuery(logicalQueuesOf(clusterName, name));
  const groups = useTopology(clusterName).groups.map((one) => one.name);
  if (query.isPending) return { words: [], forms: {} };
  const logical = query.data?.data.logicalQueues;
  const reset = () => resetOffsets(topic, consumerGroupName, logical?.queues.length);
  if (!logical) {
    const forms = {
      change: () => changeTopic(topic),
      reset,
      delete: () => deleteTopic(topic),
      convert: () => convertTopic(clusterName, name),
    };
    return { words: ordinaryWords, forms };
  }
  const staticTopic = { clusterName, name, queues: logical.queues };
  const forms = {
    move: () => moveQueues(staticTopic, groups),
    expand: () => expandStaticTopic(staticTopic, groups),
    shrink: () => shrinkStaticTopic(staticTopic),
    reset,
    delete: () => deleteStaticTopic(staticTopic),
  };
  return { words: staticWords, forms };
}

/** What can be ordered for a topic; each leads to a plan first. */
export function TopicActions({ topic }: { topic: TopicDetail }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/topics/$topicName' });
  const { order, group } = useSearch({ from: '/console/topics/$topicName' });
  const protecting = usePlanOrder();
  const show = (wanted: TopicOrder | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  const { words, forms } = useOffered(topic, group);
  return (
    <>
      <PlanRefusal order={protecting} />
      {words.map((word, index) => (
        <WriteButton
          key={word}
          variant={index === 0 ? 'filled' : 'default'}
          onClick={() => show(word)}
          {...(index === 0 ? { 'data-act': true } : {})}
        >
          {t(`topic.${word}`)}
        </WriteButton>
      ))}
      <ProtectionButton
        what={{
          clusterName: topic.clusterName,
          resourceKind: 'TOPIC',
          resourceName: topic.name,
        }}
        isProtected={topic.protection !== null}
        order={protecting}
      />
      <OrderModal kind={order && forms[order]?.()} onClose={() => show(undefined)} />
      <SendModal
        isOpen={order === 'send'}
        clusterName={topic.clusterName}
        topicName={topic.name}
        groups={topic.placements.map(({ brokerGroupName }) => brokerGroupName)}
        onClose={() => show(undefined)}
      />
    </>
  );
}
