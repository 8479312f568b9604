import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import {
  forgetReplicas,
  lowerVersion,
  preferMaster,
  upgradeGroup,
} from '@/features/orders/replica-group-orders';
import type { ReplicaGroup } from '@/features/replica-groups/replica-group';
import { focusAct } from '@/lib/use-key-sequence';
import { OrderModal } from './order-modal';
import { SwitchMode } from './switch-mode';
import type { usePlanOrder } from './use-plan-order';

const forms = {
  prefer: preferMaster,
  forget: forgetReplicas,
  upgrade: upgradeGroup,
  lower: lowerVersion,
};

type GroupActionsProps = { group: ReplicaGroup; order: ReturnType<typeof usePlanOrder> };

/** What can be ordered for a group; each leads to a plan first. */
export function GroupActions({ group, order }: GroupActionsProps) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState<keyof typeof forms>();
  return (
    <>
      <WriteButton onClick={focusAct}>{t('elect.open')}</WriteButton>
      <WriteButton variant="default" onClick={() => setOpened('prefer')}>
        {t('prefer.open')}
      </WriteButton>
      <WriteButton variant="default" onClick={() => setOpened('forget')}>
        {t('forget.open')}
      </WriteButton>
      <WriteButton variant="default" onClick={() => setOpened('upgrade')}>
        {t('upgrade.open')}
      </WriteButton>
      <WriteButton variant="default" onClick={() => setOpened('lower')}>
        {t('lowerVersion.open')}
      </WriteButton>
      <SwitchMode
        groupKey={{ clusterName: group.clusterName, brokerGroupName: group.name }}
        mode="ACTING_MASTER"
        order={order}
      />
      <OrderModal kind={opened && forms[opened](group)} onClose={() => setOpened(undefined)} />
    </>
  );
}
