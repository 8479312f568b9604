import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { preferMaster } from '@/features/orders/replica-group-orders';
import { ForgetForm } from '@/features/replica-groups/forget-form';
import type { ReplicaGroup } from '@/features/replica-groups/replica-group';
import { focusAct } from '@/lib/use-key-sequence';
import { OrderModal } from './order-modal';
import { WithOrder } from './with-order';

/** What can be ordered for a group; each leads to a plan first. */
export function GroupActions({ group }: { group: ReplicaGroup }) {
  const { t } = useTranslation();
  const [isForgetting, setIsForgetting] = useState(false);
  const [isPreferring, setIsPreferring] = useState(false);
  return (
    <>
      <WriteButton onClick={focusAct}>{t('elect.open')}</WriteButton>
      <WriteButton variant="default" onClick={() => setIsPreferring(true)}>
        {t('prefer.open')}
      </WriteButton>
      <WriteButton variant="default" onClick={() => setIsForgetting(true)}>
        {t('forget.open')}
      </WriteButton>
      <OrderModal
        kind={isPreferring ? preferMaster(group) : undefined}
        onClose={() => setIsPreferring(false)}
      />
      <Modal
        opened={isForgetting}
        onClose={() => setIsForgetting(false)}
        title={t('forget.title', { group: group.name })}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        <WithOrder key={group.name}>
          {(order) => (
            <ForgetForm
              group={group}
              isBusy={order.isBusy}
              onPlan={(chosen) =>
                order.plan({
                  forgetReplicas: {
                    clusterName: group.clusterName,
                    groupName: group.name,
                    ...chosen,
                  },
                })
              }
            />
          )}
        </WithOrder>
      </Modal>
    </>
  );
}
