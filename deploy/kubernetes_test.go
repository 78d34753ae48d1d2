package deploy_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
)

// The fields of Kubernetes that the manifests use, by its API's own names. A
// field that is not here is refused when they are read: most likely it is
// misspelt, and Kubernetes would refuse it or worse, pass over it.
type (
	manifest struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   metadata
		Spec       spec
	}
	metadata struct {
		Name   string
		Labels map[string]string
	}
	selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
		App         string            // of a Service, whose selector is flat
	}
	spec struct {
		Replicas             int
		ServiceName          string `yaml:"serviceName"`
		MinAvailable         int    `yaml:"minAvailable"`
		Selector             selector
		Strategy             strategy
		Template             template
		Ports                []port
		VolumeClaimTemplates []claim `yaml:"volumeClaimTemplates"`
	}
	strategy struct {
		Type          string
		RollingUpdate struct {
			MaxUnavailable int `yaml:"maxUnavailable"`
			MaxSurge       int `yaml:"maxSurge"`
		} `yaml:"rollingUpdate"`
	}
	template struct {
		Metadata metadata
		Spec     pod
	}
	pod struct {
		AutomountServiceAccountToken  bool         `yaml:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int          `yaml:"terminationGracePeriodSeconds"`
		SecurityContext               podSecurity  `yaml:"securityContext"`
		TopologySpreadConstraints     []constraint `yaml:"topologySpreadConstraints"`
		Containers                    []container
		Volumes                       []volume
	}
	podSecurity struct {
		RunAsNonRoot        bool   `yaml:"runAsNonRoot"`
		RunAsUser           int    `yaml:"runAsUser"`
		RunAsGroup          int    `yaml:"runAsGroup"`
		FSGroup             int    `yaml:"fsGroup"`
		FSGroupChangePolicy string `yaml:"fsGroupChangePolicy"`
		SeccompProfile      struct {
			Type string
		} `yaml:"seccompProfile"`
	}
	constraint struct {
		MaxSkew           int      `yaml:"maxSkew"`
		TopologyKey       string   `yaml:"topologyKey"`
		WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
		LabelSelector     selector `yaml:"labelSelector"`
	}
	container struct {
		Name, Image     string
		Args            []string
		EnvFrom         []source `yaml:"envFrom"`
		Env             []struct{ Name, Value string }
		Ports           []port
		StartupProbe    probe `yaml:"startupProbe"`
		ReadinessProbe  probe `yaml:"readinessProbe"`
		LivenessProbe   probe `yaml:"livenessProbe"`
		Resources       resources
		SecurityContext struct {
			AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		VolumeMounts []mount `yaml:"volumeMounts"`
	}
	source struct {
		SecretRef struct{ Name string } `yaml:"secretRef"`
	}
	port struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
		Port          int
		TargetPort    string `yaml:"targetPort"`
	}
	probe struct {
		HTTPGet struct {
			Path, Port string
		} `yaml:"httpGet"`
		PeriodSeconds    int `yaml:"periodSeconds"`
		TimeoutSeconds   int `yaml:"timeoutSeconds"`
		FailureThreshold int `yaml:"failureThreshold"`
	}
	resources struct {
		Requests, Limits map[string]string
	}
	mount struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	}
	volume struct {
		Name     string
		EmptyDir struct{} `yaml:"emptyDir"`
		Secret   struct {
			SecretName  string `yaml:"secretName"`
			DefaultMode int    `yaml:"defaultMode"`
		}
	}
	claim struct {
		Metadata metadata
		Spec     struct {
			AccessModes []string `yaml:"accessModes"`
			Resources   resources
		}
	}
)

// read reads the manifests of a file, and refuses unknown fields.
func read(t *testing.T, path string) (all []manifest) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	decoder := yaml.NewDecoder(f, yaml.Strict())
	for {
		var m manifest
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, m)
	}
}

var versionOf = map[string]string{"Deployment": "apps/v1", "StatefulSet": "apps/v1", "Service": "v1", "PodDisruptionBudget": "policy/v1"}

func TestTheKubernetesManifestsFitTogether(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		ports := map[string]bool{}
		for _, m := range read(t, file) {
			if versionOf[m.Kind] != m.APIVersion || m.Metadata.Name != "adlens" {
				t.Errorf("%s: %s %s %q", file, m.APIVersion, m.Kind, m.Metadata.Name)
			}
			if m.Spec.Selector.MatchLabels["app"]+m.Spec.Selector.App != "adlens" {
				t.Errorf("%s: a %s selects %+v", file, m.Kind, m.Spec.Selector)
			}
			switch m.Kind {
			case "Deployment", "StatefulSet":
				podIsRight(t, m)
				for _, p := range m.Spec.Template.Spec.Containers[0].Ports {
					ports[p.Name] = true
				}
			case "Service":
				for _, p := range m.Spec.Ports {
					if !ports[p.TargetPort] {
						t.Errorf("%s: a Service leads to port %q, which no container has", file, p.TargetPort)
					}
				}
			case "PodDisruptionBudget":
				if m.Spec.MinAvailable != 2 {
					t.Errorf("%s: of three servers %d may be the least", file, m.Spec.MinAvailable)
				}
			}
		}
	}
}

// podIsRight holds a pod to the image and to what the probes mean.
func podIsRight(t *testing.T, m manifest) {
	t.Helper()
	pod := m.Spec.Template.Spec
	one := pod.Containers[0]
	if m.Spec.Template.Metadata.Labels["app"] != "adlens" || len(pod.Containers) != 1 {
		t.Errorf("%s: the pod is %+v", m.Kind, m.Spec.Template.Metadata)
	}
	if !pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.RunAsUser != 65532 || pod.AutomountServiceAccountToken ||
		one.SecurityContext.AllowPrivilegeEscalation || !one.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("%s: more is allowed than is needed: %+v %+v", m.Kind, pod.SecurityContext, one.SecurityContext)
	}
	// A database that is away must stop requests, not kill the server.
	if one.ReadinessProbe.HTTPGet.Path != "/readyz" || one.LivenessProbe.HTTPGet.Path != "/healthz" || one.StartupProbe.HTTPGet.Path != "/healthz" {
		t.Errorf("%s: the probes ask for %+v", m.Kind, one)
	}
	if one.VolumeMounts[0].MountPath != "/data" || one.Resources.Requests["memory"] == "" || one.Resources.Limits["memory"] == "" {
		t.Errorf("%s: %+v %+v", m.Kind, one.VolumeMounts, one.Resources)
	}
	filesAreRight(t, m)
	// Running requests and the delay before them have to fit in.
	if pod.TerminationGracePeriodSeconds < 60 {
		t.Errorf("%s: %d s to end are too few", m.Kind, pod.TerminationGracePeriodSeconds)
	}
}

// filesAreRight holds a pod to what the program asks of its files: a data
// directory that it makes itself where the volume stays, because the root of a
// volume is root's and its group may write; and a key that all servers share,
// which only their group may read.
func filesAreRight(t *testing.T, m manifest) {
	t.Helper()
	pod := m.Spec.Template.Spec
	env := map[string]string{}
	for _, e := range pod.Containers[0].Env {
		env[e.Name] = e.Value
	}
	mounts := map[string]string{}
	for _, one := range pod.Containers[0].VolumeMounts {
		mounts[one.Name] = one.MountPath
	}
	if m.Kind == "StatefulSet" {
		if dir := env["ADLENS_DATA_DIR"]; filepath.Dir(dir) != mounts["data"] {
			t.Errorf("the data directory is %q, the volume is at %q", dir, mounts["data"])
		}
		return
	}
	for _, v := range pod.Volumes {
		if v.Secret.SecretName == "" {
			continue
		}
		if file := env["ADLENS_SECRET_KEY_FILE"]; filepath.Dir(file) != mounts[v.Name] || v.Secret.DefaultMode&^0o440 != 0 {
			t.Errorf("the key is at %q with mode %o, its file %q", mounts[v.Name], v.Secret.DefaultMode, file)
		}
		return
	}
	t.Errorf("the servers of a %s share no key", m.Kind)
}
