import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { resetOffsets } from '@/features/orders/offset-orders';
import { changeTopic, deleteTopic } from '@/features/orders/topic-orders';
import type { TopicDetail } from '@/features/topics/topic-detail';
import { OrderModal } from './order-modal';
import { PlanRefusal } from './plan-refusal';
import { ProtectionButton } from './protection-button';
import { SendModal } from './send-modal';
import type { TopicOrder } from './topic-route';
import { usePlanOrder } from './use-plan-order';
import { withinPage } from './within-page';

const words: readonly TopicOrder[] = ['change', 'reset', 'delete', 'send'];

/** What can be ordered for a topic; each leads to a plan first. */
export function TopicActions({ topic }: { topic: TopicDetail }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/topics/$topicName' });
  const { order, group } = useSearch({ from: '/console/topics/$topicName' });
  const protecting = usePlanOrder();
  const show = (wanted: TopicOrder | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  const kinds = {
    change: () => changeTopic(topic),
    reset: () => resetOffsets(topic, group),
    delete: () => deleteTopic(topic),
  };
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
      <OrderModal
        kind={order && order !== 'send' ? kinds[order]() : undefined}
        onClose={() => show(undefined)}
      />
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
