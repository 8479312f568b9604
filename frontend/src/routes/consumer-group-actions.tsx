import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ConsumerGroupDetail, topicsOf } from '@/features/consumer-groups/consumer-group';
import { ResetForm } from '@/features/consumer-groups/reset-form';
import { changeGroup } from '@/features/orders/group-orders';
import { OrderModal } from './order-modal';
import { PlanRefusal } from './plan-refusal';
import { usePlanOrder } from './use-plan-order';

type ConsumerGroupActionsProps = { clusterName: string; group: ConsumerGroupDetail };

/** What can be ordered for a consumer group; each leads to a plan first. */
export function ConsumerGroupActions({ clusterName, group }: ConsumerGroupActionsProps) {
  const { t } = useTranslation();
  const [isResetting, setIsResetting] = useState(false);
  const [isChanging, setIsChanging] = useState(false);
  const order = usePlanOrder();
  const isStopped = group.settings.every((one) => !one.consumeEnabled);
  const topics = topicsOf(group);
  const target = { clusterName, groupName: group.name };
  const change = () =>
    changeGroup(
      clusterName,
      group.settings.map((one) => one.groupName),
      group.name,
      group.settings,
    );
  return (
    <>
      {isResetting ? null : <PlanRefusal order={order} />}
      <Button data-act onClick={() => setIsResetting(true)} disabled={topics.length === 0}>
        {t('resetGroup.open')}
      </Button>
      <Button variant="default" onClick={() => setIsChanging(true)}>
        {t('consumerGroup.change')}
      </Button>
      <OrderModal kind={isChanging ? change() : undefined} onClose={() => setIsChanging(false)} />
      <Button
        variant="default"
        disabled={order.isBusy}
        onClick={() =>
          order.plan({ changeConsumerGroup: { ...target, consumeEnabled: isStopped } })
        }
      >
        {t(isStopped ? 'consumerGroup.allow' : 'consumerGroup.stop')}
      </Button>
      <Button
        variant="default"
        disabled={order.isBusy}
        onClick={() => order.plan({ deleteConsumerGroup: target })}
      >
        {t('consumerGroup.delete')}
      </Button>
      <Modal
        opened={isResetting}
        onClose={() => setIsResetting(false)}
        title={t('resetGroup.title', { group: group.name })}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        <PlanRefusal order={order} />
        <ResetForm
          topics={topics}
          isBusy={order.isBusy}
          onPlan={(topicName, position) =>
            order.plan({
              resetOffsets: { clusterName, consumerGroup: group.name, topicName, position },
            })
          }
        />
      </Modal>
    </>
  );
}
