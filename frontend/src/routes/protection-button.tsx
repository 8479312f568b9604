import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { ChangeProtectionInput } from '@/gql/operations';
import type { usePlanOrder } from './use-plan-order';

type ProtectionButtonProps = {
  what: Omit<ChangeProtectionInput, 'isProtected'>;
  isProtected: boolean;
  order: ReturnType<typeof usePlanOrder>;
};

/** Plans what protects a thing from deletion, or lifts that where it is protected. */
export function ProtectionButton({ what, isProtected, order }: ProtectionButtonProps) {
  const { t } = useTranslation();
  return (
    <WriteButton
      variant="default"
      disabled={order.isBusy}
      onClick={() => order.plan({ changeProtection: { ...what, isProtected: !isProtected } })}
    >
      {t(isProtected ? 'protection.lift' : 'protection.protect')}
    </WriteButton>
  );
}
