import { useTranslation } from 'react-i18next';
import { formatDateTime } from '@/lib/format';

/** Until when a lease runs by the last report; a living master renews it with each heartbeat. */
export function LeaseFigure({ endsAt }: { endsAt: string | null }) {
  const { t } = useTranslation();
  return endsAt === null ? t('leases.none') : formatDateTime(Date.parse(endsAt));
}
