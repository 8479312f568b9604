import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';

/** For an address that names nothing. */
export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <EmptyState title={t('missing.title')}>
      {t('missing.next')}{' '}
      <Link to="/" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
        {t('missing.back')}
      </Link>
    </EmptyState>
  );
}
