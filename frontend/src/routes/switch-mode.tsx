import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { GroupKey } from '@/features/group-members/group-member-queries';
import type { WantedGroupMode } from '@/gql/operations';
import type { usePlanOrder } from './use-plan-order';

type SwitchModeProps = {
  groupKey: GroupKey;
  mode: WantedGroupMode;
  order: ReturnType<typeof usePlanOrder>;
};

/** Plans the switch of a group to the other mode. */
export function SwitchMode({ groupKey, mode, order }: SwitchModeProps) {
  const { t } = useTranslation();
  const { clusterName, brokerGroupName } = groupKey;
  return (
    <WriteButton
      variant="default"
      disabled={order.isBusy}
      onClick={() => order.plan({ switchGroupMode: { clusterName, brokerGroupName, mode } })}
    >
      {t(`groupMode.to.${mode}`)}
    </WriteButton>
  );
}
