import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { revokeToken } from '@/features/access/access-queries';
import { SureForm } from '@/features/access/sure-form';

type RevokeTokenProps = { id: string; onRevoked: () => void };

/** Revokes one token; the outcome is shown for it alone, whichever token is asked about next. */
export function RevokeToken({ id, onRevoked }: RevokeTokenProps) {
  const { t } = useTranslation();
  const options = revokeToken(useQueryClient());
  const revoke = useMutation({
    ...options,
    onSuccess: () => {
      void options.onSuccess();
      onRevoked();
    },
  });
  return (
    <SureForm lead={t('tokens.revokeLead')} word={t('tokens.revokeDo')} deed={revoke} given={id} />
  );
}
