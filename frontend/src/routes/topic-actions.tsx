import { Button } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { resetOffsets } from '@/features/orders/offset-orders';
import { changeTopic, deleteTopic, type PlacedTopic } from '@/features/orders/topic-orders';
import { OrderModal } from './order-modal';
import type { TopicOrder } from './topic-route';

const words: readonly TopicOrder[] = ['change', 'reset', 'delete'];

/** What can be ordered for a topic; each leads to a plan first. */
export function TopicActions({ topic }: { topic: PlacedTopic }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/topics/$topicName' });
  const { order, group } = useSearch({ from: '/console/topics/$topicName' });
  const show = (wanted: TopicOrder | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), replace: true });
  const kinds = {
    change: () => changeTopic(topic),
    reset: () => resetOffsets(topic, group),
    delete: () => deleteTopic(topic),
  };
  return (
    <>
      {words.map((word, index) => (
        <Button
          key={word}
          variant={index === 0 ? 'filled' : 'default'}
          onClick={() => show(word)}
          {...(index === 0 ? { 'data-act': true } : {})}
        >
          {t(`topic.${word}`)}
        </Button>
      ))}
      <OrderModal kind={order && kinds[order]()} onClose={() => show(undefined)} />
    </>
  );
}
