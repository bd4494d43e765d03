// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const passwordKey = "password"

// secretText never shows in a log.
type secretText string

func (secretText) String() string   { return "(secret)" }
func (secretText) GoString() string { return "(secret)" }

// newPasswordRef names a Secret for a Meeting that has no UID yet. The name is random, so that a Meeting never meets
// the Secret of an earlier one that is still being collected.
func newPasswordRef(object string) *v1alpha1.SecretKeyReference {
	return &v1alpha1.SecretKeyReference{Name: object + "-" + rand.String(8), Key: passwordKey}
}

// writePassword stores the hash in the Secret that the Meeting names, owned by it. A room whose Secret is not there
// yet lets no guest in.
func (s *Service) writePassword(ctx context.Context, m *v1alpha1.Meeting, password secretText) error {
	if password == "" {
		return nil
	}
	hash := string(password)
	if !credential.IsPasswordHash(hash) {
		var err error
		if hash, err = credential.HashPassword(hash); err != nil {
			return err
		}
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: m.Namespace,
			Name:      m.Spec.PasswordSecretRef.Name,
			Labels:    map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(m, v1alpha1.GroupVersion.WithKind("Meeting")),
			},
		},
		Data: map[string][]byte{passwordKey: []byte(hash)},
	}
	err := s.client.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// provePassword is checkPassword for backends, who may set a password too: that of a Meeting which the API made, and
// whose Secret was never written because this or another replica ended in between.
func (s *Service) provePassword(ctx context.Context, m *v1alpha1.Meeting, presented string) (bool, error) {
	ok, err := s.checkPassword(ctx, m, presented)
	unfinished := !meeting.Stands(m) && !entered(m)
	if presented == "" || !apierrors.IsNotFound(err) || !unfinished {
		return ok, err
	}
	if err := s.writePassword(ctx, m, secretText(presented)); err != nil {
		return false, err
	}
	// Of two who set it at once one was first.
	return s.checkPassword(ctx, m, presented)
}

// entered says that a participant has been let into the room, or is about to be.
func entered(m *v1alpha1.Meeting) bool {
	return m.Status.StartTime != nil || m.Annotations[v1alpha1.AnnotationRoomOpened] != ""
}

// CheckPassword compares a password with that of the meeting. A meeting without one takes any.
func (s *Service) CheckPassword(ctx context.Context, t *tenant.Tenant, v meeting.View, presented string) (bool, error) {
	m, err := s.current(t, v.UID)
	if err != nil {
		return false, err
	}
	ok, err := s.checkPassword(ctx, m, presented)
	return ok, asFault(err)
}

func (s *Service) checkPassword(ctx context.Context, m *v1alpha1.Meeting, presented string) (bool, error) {
	if m.Spec.PasswordSecretRef == nil {
		return true, nil
	}
	stored, err := s.readPassword(ctx, m)
	if err != nil {
		return false, err
	}
	return credential.CheckPassword(string(stored), presented), nil
}

// hasPassword reports whether a password is that of an ended Meeting; two times none is the same. One that cannot be read
// is another.
func (s *Service) hasPassword(ctx context.Context, ended *v1alpha1.Meeting, password secretText) bool {
	if ended.Spec.PasswordSecretRef == nil || password == "" {
		return ended.Spec.PasswordSecretRef == nil && password == ""
	}
	same, err := s.checkPassword(ctx, ended, string(password))
	return err == nil && same
}

func (s *Service) readPassword(ctx context.Context, m *v1alpha1.Meeting) (secretText, error) {
	ref := m.Spec.PasswordSecretRef
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var secret corev1.Secret
	err := s.client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: ref.Name}, &secret)
	if err == nil && len(secret.Data[ref.Key]) == 0 {
		err = fmt.Errorf("secret %s has no key %s", ref.Name, ref.Key)
	}
	if err != nil {
		return "", fault.Unavailable("The room's password cannot be checked now; try again, and tell the operator if it stays").Because(err)
	}
	return secretText(secret.Data[ref.Key]), nil
}
